"""Native code of loop nests: its values are those of the nest in numpy, for every schedule."""

from __future__ import annotations

import ctypes
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from tests.compiler.codegen.nest.nest_checks import assert_near
from tests.compiler.codegen.nest.test_directives import plain, random_text
from tests.properties.random_modules import random_module
from xla_explorer.backends.llvm.llvm_compiler import optimize_and_emit
from xla_explorer.backends.llvm.native_library import NativeLibrary
from xla_explorer.compiler.codegen.lowering.lower import LoweredNest, lower
from xla_explorer.compiler.codegen.nest.ir import LoopNest
from xla_explorer.compiler.codegen.nest.plain_nests.from_hlo import nest_of
from xla_explorer.compiler.codegen.nest.schedule import (
    Schedule,
    run_schedule,
)
from xla_explorer.compiler.codegen.nest.schedule_text import parse_directives
from xla_explorer.compiler.codegen.nest.text import nest_text
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.evaluator import Evaluator

BODIES = (
    "bias",
    "rows",
    "columns",
    "all",
    "softmax",
    "reshape",
    "window",
    "dot",
    "transpose",
    "pad",
    "concatenate",
    "gather",
    "argmax",
    "variance",
    "extremes",
    "softmax",
    "columns",
)
BODIES += ("running-rows", "running-columns", "running-line", "running-sums", "running-furthest")


def native(nest: LoopNest, operands: tuple[Any, ...]) -> list[Any]:
    """Return the arrays that the native code of a nest stores, task by task."""
    found = lower(nest)
    assert isinstance(found, LoweredNest), found
    library = NativeLibrary(optimize_and_emit(found.text).objects, exports=["kernel"])
    orders = [
        tuple(reversed(a.shape.layout.minor_to_major)) for a in nest.arrays
    ]  # as the elements lie in memory
    given = [
        np.array(np.transpose(x, order), order="C")
        for x, order in zip(operands, orders, strict=False)
    ]
    written = [a.shape for a in nest.arrays if a.written]
    results = [
        np.zeros([s.dimensions[d] for d in order], s.element_type.dtype)
        for s, order in zip(written, orders[len(given) :], strict=True)
    ]
    scratch = [np.zeros(found.scratch_bytes, np.uint8)] if found.scratch_bytes else []
    function = library.bind(
        "kernel", None, [*[ctypes.c_void_p] * (len(orders) + len(scratch)), ctypes.c_int64]
    )
    for task in range(sum(found.phases) or nest.tasks):
        function(*[a.ctypes.data for a in (*given, *results, *scratch)], task)
    return [
        np.array(r.transpose(np.argsort(order)), order="C")
        for r, order in zip(results, orders[len(given) :], strict=True)
    ]


def check_random_schedules(seed: int, count: int) -> Counter[str]:
    """Compare native code with numpy; count what has no lowering by its message."""
    choice, seen = random.Random(seed), Counter[str]()
    for _ in range(count):
        scheduled, operands, wanted = plain(choice.choice(BODIES))
        done = []
        axis = choice.choice(list(scheduled.axes()))
        first = [f"split{{{axis},8}}", f"vectorize{{{axis}i}}"] if choice.random() < 0.5 else []
        for k in range(choice.randint(0, 6)):
            (directive,) = parse_directives(
                first[k] if k < len(first) else random_text(choice, scheduled)
            )
            after, _ = run_schedule(scheduled, [directive])
            if after is not scheduled:
                done.append(str(directive))
            scheduled = after
        if isinstance(reason := lower(scheduled), Reason):
            seen[reason.message.split(" ")[-3]] += 1
            continue
        assert_near(
            native(scheduled, operands), wanted, f"{','.join(done)}\n{nest_text(scheduled)}"
        )
        seen.update(["native", *[text.partition("{")[0] for text in done]])
    return seen


def test_a_result_past_the_cache() -> None:
    nest, operands, wanted = plain("gather")
    streamed, _ = run_schedule(nest, parse_directives("stream{out},vectorize{j}"))
    assert "!nontemporal" in lower(streamed).text
    assert_near(native(streamed, operands), wanted, nest_text(streamed))


@pytest.mark.parametrize(
    "text",
    [
        "split{j,2,overlap},unroll{jo}",
        "prefetch{i,x.4,64},unroll{i}",
        "split{i,4,overlap},split{j,2,overlap},unroll{jo},unroll{io}",
    ],
)
def test_copies_of_steps_that_compute_their_own_indices(text: str) -> None:
    """Seed 50001 of random pairs: an index of a directive depends on the axis that is copied."""
    nest, operands, wanted = plain("bias")
    scheduled, trace = run_schedule(nest, parse_directives(text))
    assert all(step.changed for step in trace.steps)
    assert_near(native(scheduled, operands), wanted, nest_text(scheduled))


def test_blocks_by_lines_of_memory_in_lanes() -> None:
    """The start of a line is one 64-bit number for lanes of 32 bits (seed 3064 of random pairs)."""
    nest, operands, wanted = plain("columns")
    scheduled, _ = run_schedule(nest, parse_directives("split{i,16,shift,x.4},vectorize{io}"))
    assert "by lines of" in nest_text(scheduled) and "@vector" in nest_text(scheduled)
    assert_near(native(scheduled, operands), wanted, nest_text(scheduled))


@pytest.mark.parametrize(
    "text", ["split{j,32},split{jo,4},vectorize{joi}", "split{j,32},pad{jo,8},vectorize{jo}"]
)
def test_lanes_on_which_nothing_depends_store_one_element(text: str) -> None:
    """Seed 80002 of random pairs: LLVM aborted at a masked store of a scalar.

    A directive had made an axis of one step longer.
    """
    nest, operands, wanted = plain("bias")
    scheduled, trace = run_schedule(nest, parse_directives(text))
    assert all(step.changed for step in trace.steps)
    assert_near(native(scheduled, operands), wanted, nest_text(scheduled))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.sampled(1)
def test_random_schedules_give_equal_native_values(seed: int) -> None:
    seen = check_random_schedules(seed, 16)
    assert seen["native"] > 8 and "split" in seen, (
        seen
    )  # which directives are legal is chance; a hundred and sixty schedules meet the most


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 1120, 10))
def test_many_random_schedules_give_equal_native_values(first: int) -> None:
    seen = sum(
        [check_random_schedules(seed, 16) for seed in range(first, first + 10)], Counter[str]()
    )
    assert seen["native"] > 100 and {"cut", "vectorize", "unroll", "split"} <= seen.keys(), seen


ELEMENTWISE = {
    "f32": "e = T[40] exponential(x) g = T[40] tanh(y) a = T[40] add(e, g) m = T[40] maximum(a, y) d = T[40] divide(m, e) "
    "n = T[40] negate(d) c = pred[40] compare(x, y), direction=LT q = T[40] sqrt(e) s = T[40] select(c, n, q) ROOT r = T[40] subtract(s, y)",
    "s32": "a = T[40] add(x, y) m = T[40] minimum(a, x) b = T[40] abs(m) o = T[40] xor(b, y) c = pred[40] compare(o, x), direction=GE "
    "v = T[40] convert(c) i = T[40] iota(), iota_dimension=0 w = T[40] multiply(v, i) ROOT r = T[40] subtract(w, m)",
    "s64": "i = T[40] iota(), iota_dimension=0 a = T[40] add(x, i) ROOT r = T[40] maximum(a, y)",
    "pred": "a = T[40] and(x, y) o = T[40] xor(a, y) n = T[40] not(o) ROOT r = T[40] or(n, x)",
}
ELEMENTWISE["f64"] = ELEMENTWISE["f32"]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("kind", ELEMENTWISE)
@pytest.mark.parametrize(
    "schedule",
    ["", "split{i,8},split{io,2},unroll{ioi}", "split{i,16},vectorize{ii},parallel{io,2}"],
)
def test_elementwise_code_gives_the_evaluators_values(kind: str, schedule: str) -> None:
    head = "x = T[40] parameter(0) y = T[40] parameter(1)"
    text = f"HloModule m\nf {{ {head} {ELEMENTWISE[kind]} }}\nENTRY e {{ {head} ROOT r = T[40] fusion(x, y), kind=kLoop, calls=f }}"
    module = xe.parse_hlo(text.replace("T[", f"{kind}["))
    rng = np.random.default_rng(3)
    operands = tuple(
        [
            (rng.standard_normal(40) * 3).astype(module.entry.root.shape.element_type.dtype)
            for _ in range(2)
        ]
    )
    nest = nest_of(module.entry.root)
    assert not isinstance(nest, Reason), nest
    scheduled, trace = run_schedule(nest, parse_directives(schedule))
    assert all(step.changed for step in trace.steps)
    assert_near(
        native(scheduled, operands),
        [np.asarray(xe.evaluate(module, *operands))],
        nest_text(scheduled),
    )


@pytest.mark.long
@pytest.mark.parametrize("first", range(2000, 2400, 25))
@pytest.mark.sampled(1)
def test_instructions_of_random_modules_give_equal_native_values(first: int) -> None:
    lowered = 0
    for seed in range(first, first + 25):
        case = random_module(seed)
        evaluator = Evaluator(record=True)
        if (
            case.extremes
            or max(
                [
                    i.shape.byte_size
                    for i in case.module.entry.instructions.values()
                    if i.shape.is_array
                ]
            )
            > 1 << 16
        ):
            continue  # extremes: functions of infinities and NaN have tests of their own
        evaluator.evaluate_computation(case.module.entry, case.arguments)
        for i in case.module.entry.post_order():
            if i.opcode.name == "parameter" or any(
                o.id not in evaluator.values for o in (i, *i.operands)
            ):
                continue
            nest = nest_of(i)
            if not isinstance(nest, Reason) and not isinstance(lower(nest), Reason):
                found = native(
                    nest, tuple([evaluator.values[o.id] for o in dict.fromkeys(i.operands)])
                )
                wanted = evaluator.values[i.id]
                assert_near(
                    found,
                    list(wanted) if isinstance(wanted, tuple) else [wanted],
                    f"seed {seed}: {i}",
                )
                lowered += 1
    assert lowered > 10


def test_layouts_are_kept() -> None:
    text = (
        "HloModule m\nENTRY e { p = f32[6,8]{0,1} parameter(0) ROOT r = f32[8,6]{0,1} reshape(p) }"
    )
    nest = nest_of(xe.parse_hlo(text).entry.root)
    assert not isinstance(nest, Reason)
    x = np.arange(48, dtype="f4").reshape(6, 8)
    assert np.array_equal(native(nest, (x,))[0], x.reshape(8, 6))


def test_the_code_has_vectors_and_unrolled_instances() -> None:
    nest, _ = run_schedule(
        plain("rows")[0], parse_directives("split{j,16},split{ji,8},unroll{jio},vectorize{jii}")
    )
    found = lower(nest)
    assert isinstance(found, LoweredNest)
    text = found.text
    assert (
        text.count("phi <8 x float>") == 2
        and "shufflevector <8 x float>" in text
        and "llvm.masked.load.v8f32.p0" in text
    )
    assert nest_text(nest).count("add") == 1


def test_what_is_not_lowered_says_so() -> None:
    nest, _ = run_schedule(plain("bias")[0], parse_directives("block{i}"))
    found = lower(nest)
    assert isinstance(found, Reason) and found.code == "axis-of-a-launch"


@pytest.mark.parametrize(
    "text",
    [
        "unroll{j},pad{l,13}",
        "split{p,16},unroll{j}",
        "split{n,2},unroll{j}",
        "split{n,2},unroll{j},split{l,4},vectorize{li}",
    ],
)
def test_a_uniform_load_happens_if_one_instance_needs_it(text: str) -> None:
    """The weights of a padded convolution are one load for all unrolled rows.

    The taps that are inside differ from row to row.
    """
    nest, operands, wanted = plain("padded-convolution")
    assert_near(native(Schedule(nest, nest).then(text).nest, operands), wanted, text)
