"""Instructions that become library calls, the reasons of the others, and calls as text."""

from dataclasses import replace

import pytest

from xla_explorer.compiler.decisions.kinds import meaning_of
from xla_explorer.compiler.pipeline.context import PassControl
from xla_explorer.compiler.pipeline.optimize import optimize
from xla_explorer.compiler.pipeline.pass_interface import make_pass
from xla_explorer.compiler.pipeline.pipeline import PassPipeline
from xla_explorer.compiler.target import NVPTX, Abilities
from xla_explorer.compiler.transforms.library_calls.library_call import (
    FftCall,
    MatmulCall,
    call_name,
    library_call_of,
)
from xla_explorer.compiler.transforms.library_calls.library_costs import Rates, costs_of
from xla_explorer.compiler.transforms.library_calls.matmul_matching import matmul_of
from xla_explorer.hlo.text.parser import parse_hlo

THERE = dict.fromkeys(("cublasLt", "cublas", "cufft", "cusolver"), "")
PIPELINE = PassPipeline("p", (make_pass("layout-assignment"), make_pass("library-rewriter")))


def rewritten(text, control=None, libraries=THERE):
    target = replace(NVPTX, abilities=Abilities(libraries=libraries))
    return optimize(parse_hlo(text), PIPELINE, "decisions", control=control, target=target)


def dot(kind="bf16", size=4096, more=""):
    shape = f"{kind}[{size},{size}]"
    return f"""HloModule m
ENTRY e {{
  a = {shape} parameter(0)
  b = {shape} parameter(1)
  ROOT c = {shape} dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}{more}
}}"""


def decision(trace):
    (event,) = [event for event in trace.journal.events if event.by == "library-call"]
    return event


def test_a_large_product_is_called():
    trace = rewritten(dot())
    call = library_call_of(trace.module.entry.root)
    assert isinstance(call, MatmulCall) and (call.m, call.n, call.k, call.operand_type) == (
        4096,
        4096,
        4096,
        "bf16",
    )
    assert call_name(call) == "cuBLASLt matmul" and decision(trace).verdict == "accepted"
    assert library_call_of(parse_hlo(str(trace.module)).entry.root) == call, (
        "it can be written and read"
    )


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (dot(size=32), "own-kernel-faster"),
        (dot("s32"), "type-not-served"),
        (dot(size=0), "no-elements"),
    ],
)
def test_refusals(text, code):
    trace = rewritten(text)
    assert (
        decision(trace).reason.code == code
        and meaning_of("library-call", code)
        and library_call_of(trace.module.entry.root) is None
    )


def test_what_is_not_there_is_said_with_both_costs():
    reason = decision(rewritten(dot(), libraries={"cublasLt": "not installed"})).reason
    assert reason.code == "library-unavailable" and "not installed" in reason.message
    assert 0 < reason.facts["library_us"] < reason.facts["own_us"]


def test_the_user_has_the_last_word():
    control = PassControl(forbid={"library-call": [("c",)]})
    assert decision(rewritten(dot(), control)).reason.code == "forbidden-by-user"
    control = PassControl(force={"library-call": [("c",)]})
    assert library_call_of(rewritten(dot(size=32), control).module.entry.root) is not None


def test_dimensions_that_do_not_follow_one_another():
    text = """HloModule m
ENTRY e {
  a = f32[64,4,64] parameter(0)
  b = f32[64,64] parameter(1)
  ROOT c = f32[64,4,64] dot(a, b), lhs_contracting_dims={2}, rhs_contracting_dims={0}
}"""
    assert isinstance(matmul_of(parse_hlo(text).entry.root), MatmulCall), (
        "two kept dimensions are one"
    )
    apart = text.replace("lhs_contracting_dims={2}", "lhs_contracting_dims={0}").replace(
        "c = f32[64,4,64]", "c = f32[4,64,64]"
    )
    assert isinstance(matmul_of(parse_hlo(apart).entry.root), MatmulCall)
    middle = """HloModule m
ENTRY e {
  a = f32[8,4,16] parameter(0)
  b = f32[4,32] parameter(1)
  ROOT c = f32[8,16,32] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}"""
    assert matmul_of(parse_hlo(middle).entry.root).code == "dimensions-not-joined"


def test_costs_grow_with_the_work():
    rates = Rates.of(NVPTX)
    products = [matmul_of(parse_hlo(dot(size=size)).entry.root) for size in (64, 512, 4096)]
    times = [costs_of(call, rates).library_us for call in products]
    assert times == sorted(times) and times[-1] > 10 * times[0]
    peak = 2 * 4096**3 / (times[-1] * 1e6)  # TFLOP/s
    assert 500 < peak < 990
    odd, even = [costs_of(FftCall("FFT", (n,), 64, "f32"), rates) for n in (4095, 4096)]
    assert odd.own_us > odd.library_us and even.own_us <= even.library_us
