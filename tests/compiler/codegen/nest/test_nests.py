"""Plain loop nests are well formed, compute the evaluator's values, and their text is read back."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from tests.compiler.codegen.nest.nest_checks import Checked
from tests.properties.random_modules import random_module
from tests.support.corpora import SHARED
from tests.support.opcode_programs import module_with
from xla_explorer.backends.interfaces import CompileOptions
from xla_explorer.backends.registry import platform
from xla_explorer.compiler.codegen.nest.ir import LoopNest
from xla_explorer.compiler.codegen.nest.meaning import MeaningError, evaluate_nest
from xla_explorer.compiler.codegen.nest.parser import NestSyntaxError, parse_nest
from xla_explorer.compiler.codegen.nest.plain_nests.from_hlo import nest_of
from xla_explorer.compiler.codegen.nest.text import nest_lines, nest_text
from xla_explorer.compiler.codegen.nest.verifier import (
    NestVerificationError,
    verify_nest,
    why_not_well_formed,
)
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.opcodes import OPCODES

SOFTMAX = """HloModule m
max { a = f32[] parameter(0) b = f32[] parameter(1) ROOT m = f32[] maximum(a, b) }
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT m = f32[] add(a, b) }
f {
  x = f32[5,12] parameter(0)
  lowest = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = f32[5] reduce(x, lowest), dimensions={1}, to_apply=max
  ms = f32[5,12] broadcast(m), dimensions={0}
  d = f32[5,12] subtract(x, ms)
  e = f32[5,12] exponential(d)
  s = f32[5] reduce(e, zero), dimensions={1}, to_apply=add
  ss = f32[5,12] broadcast(s), dimensions={0}
  ROOT r = f32[5,12] divide(e, ss)
}
ENTRY main {
  x = f32[5,12] parameter(0)
  ROOT softmax = f32[5,12] fusion(x), kind=kLoop, calls=f
}"""
PLAIN_SOFTMAX = """kernel @softmax(%x: f32[5,12], out %out: f32[5,12]) {
  %3 = constant -inf : f32
  %10 = constant 0 : f32
  for i in 5 @serial {
    %5 = reduce maximum from %3 over k in 12 @serial : f32 {
      %4 = load %x[i, k] : f32
      yield %4
    }
    %15 = reduce add from %10 over l in 12 @serial : f32 {
      %11 = load %x[i, l] : f32
      %13 = subtract %11, %5 : f32
      %14 = exponential %13 : f32
      yield %14
    }
    for j in 12 @serial {
      %1 = load %x[i, j] : f32
      %7 = subtract %1, %5 : f32
      %8 = exponential %7 : f32
      %17 = divide %8, %15 : f32
      store %17, %out[i, j]
    }
  }
}
"""


def root_nest(text: str) -> LoopNest:
    """Return the nest of the root of a module."""
    found = nest_of(xe.parse_hlo(text).entry.root)
    assert not isinstance(found, Reason), found
    return found


def of_body(body: str) -> LoopNest:
    """Return the nest of the root of an entry."""
    return root_nest(f"HloModule m\nENTRY main {{\n{body}\n}}")


def test_softmax_is_one_nest_whose_invariants_stand_outside() -> None:
    nest = root_nest(SOFTMAX)
    text = "".join([line.text.partition("  # ")[0].rstrip() + "\n" for line in nest_lines(nest)])
    assert text.replace("%x.1", "%x").replace("@softmax.1", "@softmax") == PLAIN_SOFTMAX
    notes = {line.text.strip() for line in nest_lines(nest) if "exponential" in line.text}
    assert {note.partition("# ")[2].partition(" ")[2] for note in notes} == {"%e[i, l]", "%e[i, j]"}


@pytest.mark.parametrize("first", range(1200, 1440, 24))
@pytest.mark.sampled(1)
def test_random_instructions_and_fusions(first: int) -> None:
    checked, compiler = Checked(), platform("cpu").compiler()
    for seed in range(first, first + 24):
        case = random_module(seed)
        if (
            sum(
                [
                    i.shape.byte_size
                    for i in case.module.entry.instructions.values()
                    if i.shape.is_array
                ]
            )
            < 1 << 20
        ):
            checked.module(case.module, case.arguments)
            if seed % 8 == 0:
                checked.module(
                    compiler.run_hlo_passes(case.module, CompileOptions(cache=False)).module,
                    case.arguments,
                )
    assert sum(checked.nests.values()) > 40 and len(checked.nests) > 12, checked.nests


def _extra_cases() -> list[Any]:
    corpus = SHARED / "conformance"
    spec = importlib.util.spec_from_file_location("conformance_harness", corpus / "conformance.py")
    assert spec is not None and spec.loader is not None
    harness = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(harness)
    return [
        case for case in harness.load_cases(str(corpus / "dev")) if case.name.startswith("extra/")
    ]


@pytest.mark.shared
@pytest.mark.parametrize("first", range(4))
@pytest.mark.sampled(1)
def test_the_extra_shard_of_the_conformance_corpus(first: int) -> None:
    checked = Checked()
    for case in _extra_cases()[first::4]:
        module = xe.parse_hlo(case.hlo)
        checked.module(module, tuple([np.asarray(x) for x in case.inputs]))
    assert sum(checked.nests.values()) > 5 * sum(checked.refused.values()), checked.refused


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (
            "p = f32[4,6] parameter(0)\n ROOT r = f32[3,8] reshape(p)",
            "%1 = load %p[(8*i + j) // 6, (8*i + j) % 6] : f32",
        ),
        (
            "p = f32[5] parameter(0)\n z = f32[] parameter(1)\n ROOT r = f32[9] pad(p, z), padding=2_2",
            "case 0 <= i - 2 < 5 {",
        ),
        (
            "p = f32[8]{0} parameter(0)\n s = s32[] parameter(1)\n ROOT r = f32[3] dynamic-slice(p, s), dynamic_slice_sizes={3}",
            "%3 = load %p[clamp(%1[], 0, 5) + i] : f32",
        ),
        (
            "p = f32[3] parameter(0)\n q = f32[3] parameter(1)\n ROOT r = pred[3] compare(p, q), direction=LT",
            "%1 = compare %2, %3, direction=LT : pred",
        ),
        (
            "a = bf16[3,4] parameter(0)\n b = bf16[4,5] parameter(1)\n ROOT r = bf16[3,5] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
            "reduce add from",
        ),
    ],
)
def test_lines_of_instructions(body: str, line: str) -> None:
    text = nest_text(of_body(body))
    assert line in text or line.replace("%1 = compare %2, %3", "%3 = compare %1, %2") in text, text


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (
            "p = f32[3] parameter(0)\n ROOT r = c64[2] fft(p), fft_type=RFFT, fft_length={3}",
            "no-loop-nest",
        ),
        ("p = s32[2] parameter(0)\n ROOT r = s16[2,2] bitcast-convert(p)", "element-width-changes"),
        ("p = f32[<=3] parameter(0)\n ROOT r = f32[<=3] negate(p)", "dynamic-dimensions"),
        ("p = f32[3] parameter(0)\n ROOT r = (f32[3]) tuple(p)", "not-an-array"),
        (
            "p = (f32[3], s32[]) parameter(0)\n ROOT r = f32[3] get-tuple-element(p), index=0",
            "not-an-array",
        ),
        (
            "p = f32[3] parameter(0)\n z = f32[] parameter(1)\n t = (f32[], f32[]) reduce(p, p, z, z), dimensions={0}, to_apply=both\n"
            " ROOT r = f32[] get-tuple-element(t), index=0",
            "not-an-array",
        ),
    ],
)
def test_what_has_no_nest_is_refused_with_a_reason(body: str, code: str) -> None:
    both = "both { a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] parameter(2) d = f32[] parameter(3) ROOT t = (f32[], f32[]) tuple(a, b) }"
    found = nest_of(xe.parse_hlo(f"HloModule m\n{both}\nENTRY main {{\n{body}\n}}").entry.root)
    assert isinstance(found, Reason) and found.code == code, found


def test_every_opcode_has_a_well_formed_nest_or_a_reason() -> None:
    refused = set()
    for name in OPCODES:
        for i in module_with(name).entry.instructions.values():
            found = nest_of(i)
            if isinstance(found, Reason):
                refused.add(i.opcode.name)
            else:
                assert not why_not_well_formed(found), i
    assert not refused & {
        "add",
        "select",
        "convert",
        "reshape",
        "transpose",
        "gather",
        "concatenate",
        "dot",
        "convolution",
        "map",
    }
    assert {"parameter", "tuple", "sort", "scatter", "while", "fft"} <= refused


def test_an_element_that_is_computed_again_and_again_ends_in_a_reason() -> None:
    steps = ["x0 = f32[1024] parameter(0) z = f32[] parameter(1)"]
    steps += [  # each reads the one before at two places
        f"p{k} = f32[1024] pad(x{k}, z), padding=1_-1 x{k + 1} = f32[1024] add(x{k}, p{k})"
        for k in range(16)
    ]
    body = " ".join(steps) + " ROOT r = f32[1024] negate(x16)"
    head = "x = f32[1024] parameter(0) z = f32[] parameter(1)"
    text = f"HloModule m\nf {{ {body} }}\nENTRY e {{ {head} ROOT r = f32[1024] fusion(x, z), kind=kLoop, calls=f }}"
    found = nest_of(xe.parse_hlo(text).entry.root)
    assert isinstance(found, Reason) and found.code == "nest-too-large"


GOOD = """kernel @k(%x: f32[4,8], %n: s32[4], out %out: f32[4,8]) {
  %1 = constant 2 : f32
  for i in 4 @parallel {
    %2 = load %n[i] : s32
    for jo in 3 @serial {
      for ji in 3 @vector where 3*jo + ji < 8 {
        %3 = load %x[clamp(%2[i], 0, 3), 3*jo + ji] : f32
        %4 = multiply %1, %3 : f32
        store %4, %out[i, 3*jo + ji]
      }
    }
  }
}
"""


def test_guards_prove_accesses() -> None:
    nest = parse_nest(GOOD)
    verify_nest(nest)
    assert nest_text(nest) == GOOD
    x, n = np.arange(32, dtype="f4").reshape(4, 8), np.array([3, -5, 9, 1], "i4")
    (found,) = evaluate_nest(nest, [x, n])
    assert np.array_equal(found, 2 * x[[3, 0, 3, 1]])


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        (" where 3*jo + ji < 8", "", "access-not-inside"),
        ("0, 3), 3*jo", "0, 4), 3*jo", "access-not-inside"),
        ("[i, 3*jo + ji]", "[3*jo + ji]", "place-of-another-rank"),
        ("multiply %1, %3", "multiply %1, %5", "value-not-defined"),
        ("multiply %1, %3", "multiply %1, %2", "types-differ"),
        ("multiply %1, %3", "multiply %1", "operand-count"),
        ("%4 = multiply", "%3 = multiply", "value-defined-twice"),
        ("store %4, %out", "store %4, %x", "operand-written"),
        ("store %4, %out", "store %4, %y", "array-unknown"),
        ("for jo in 3 @serial", "for jo in 3 @vector", "nested-vector"),
        ("for jo in 3 @serial", "for jo in 3 @parallel", "parallel-not-outermost"),
        ("@vector where", "@vector ordered where", "ordered-not-serial"),
        ("%2 = load %n[i] : s32", "%2 = load %x[i, 0] : f32", "index-not-integer"),
    ],
)
def test_what_is_wrong_with_a_nest_has_a_code(old: str, new: str, code: str) -> None:
    assert old in GOOD
    nest = parse_nest(GOOD.replace(old, new))
    assert code in {reason.code for reason in why_not_well_formed(nest)}
    with pytest.raises(NestVerificationError):
        verify_nest(nest)


def test_meaning_sees_reads_outside_and_elements_without_a_value() -> None:
    inputs = [np.zeros((4, 8), "f4"), np.zeros(4, "i4")]
    with pytest.raises(MeaningError, match="the index 3\\*jo \\+ ji is 8 somewhere"):
        evaluate_nest(parse_nest(GOOD.replace(" where 3*jo + ji < 8", "")), inputs)
    with pytest.raises(MeaningError, match="is never stored"):
        evaluate_nest(parse_nest(GOOD.replace("< 8 {", "< 7 {")), inputs)


@pytest.mark.parametrize(
    ("old", "new"),
    [("kernel @k", "nest @k"), ("for i in 4", "for i of 4"), ("@parallel", "@fast"), ("multiply", "multiplied"), (": s32", ": s33"), ("< 8", "< n"),
     ("store %4,", "store 4,"), ("3*jo + ji]", "3*jo + ]")],
)  # fmt: skip
def test_texts_that_are_no_nest_are_refused(old: str, new: str) -> None:
    with pytest.raises((NestSyntaxError, ValueError)):
        parse_nest(GOOD.replace(old, new, 1))
