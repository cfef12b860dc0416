"""The journal records kernels that do not sum floats in HLO's order."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe
from tests.compiler.codegen.test_loop_vectorization import needs_fixed_width
from xla_explorer.backends.cpu_program.described_cpu import described_cpu
from xla_explorer.compiler.codegen.nest.ir import LoopNest
from xla_explorer.compiler.codegen.nest.plain_nests.from_hlo import nest_of
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.schedule_facts import sums_out_of_order
from xla_explorer.compiler.codegen.nest.schedule_text import parse_directives

TEXT = """HloModule m
add { a = T[] parameter(0) b = T[] parameter(1) ROOT c = T[] OP(a, b) }
ENTRY e { x = T[SHAPE] parameter(0) i = T[] constant(INITIAL) ROOT r = T[RESULT] reduce(x, i), dimensions={OVER}, to_apply=add }
"""
CASES = {
    "rows": ("8,1000", "8", "1"),
    "long rows": ("2,9000", "2", "1"),
    "all": ("70000", "", "0"),
    "columns": ("250,32", "32", "0"),
    "long columns": ("300,32", "32", "0"),
    "wide columns": ("40,512", "512", "0"),
    "short rows": ("50,5", "50", "1"),
    "middle": ("4,30,64", "4,64", "1"),
}


def _in_order(x: np.ndarray, over: int, initial: float, combine: np.ufunc) -> np.ndarray:
    rows = np.moveaxis(x, over, 0)
    total = np.full(rows.shape[1:], initial, x.dtype)
    for row in rows:
        total = combine(total, row)
    return total


@needs_fixed_width
@pytest.mark.parametrize("initial", ["0", "1.5"])
@pytest.mark.parametrize("element", ["f32", "f64"])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.sampled(8)
def test_the_journal_records_a_sum_out_of_order(name: str, element: str, initial: str) -> None:
    shape, result, over = CASES[name]
    text = TEXT
    for word, value in (
        ("T[", f"{element}["),
        ("OP", "add"),
        ("SHAPE", shape),
        ("INITIAL", initial),
        ("RESULT", result),
        ("OVER", over),
    ):
        text = text.replace(word, value)
    session = xe.compile(text, threads=1, cache=False)
    (decision,) = session.decisions("loop-nest").to_dict("records")
    if decision["verdict"] != "accepted":
        return
    dtype = np.float32 if element == "f32" else np.float64
    x = np.random.default_rng(7).lognormal(size=[int(n) for n in shape.split(",")]).astype(dtype)
    exactly = np.array_equal(
        session.run_flat([x])[0], _in_order(x, int(over), float(initial), np.add)
    )
    told = decision["facts"].get("reorders-sum", False)
    assert exactly or told
    if name in ("rows", "long rows", "all", "long columns"):
        assert told  # lanes, several registers of partial sums, chunks
    if (
        name in ("columns", "middle")
        and initial == "0"
        and "interchange-reduction" not in decision["facts"]["schedule"]
    ):
        assert not told  # side by side in registers


def _sums_of_columns(rows: int, columns: int) -> LoopNest:
    text = (
        TEXT.replace("T[", "f32[")
        .replace("OP", "add")
        .replace("SHAPE", f"{rows},{columns}")
        .replace("INITIAL", "0")
        .replace("OVER", "0")
    )
    fused = text.replace("RESULT", f"{columns}").replace("ENTRY e", "fused") + (
        f"ENTRY e {{ x = f32[{rows},{columns}] parameter(0) ROOT f = f32[{columns}] fusion(x), kind=kLoop, calls=fused }}"
    )
    nest = nest_of(xe.parse_hlo(fused).entry.root)
    assert isinstance(nest, LoopNest)
    return nest


@pytest.mark.parametrize(
    ("rows", "columns", "directives", "size"),
    [
        (4, 65537, "interchange-reduction{j,i}", 262148),
        (70000, 4, "split{j,1},rfactor{jo,stored}", 280000),
        (70000, 4, "interchange-reduction{j,i}", None),
    ],
)
def test_sums_that_no_stack_holds_are_refused_with_their_bytes(
    rows: int, columns: int, directives: str, size: int | None
) -> None:
    nest = _sums_of_columns(rows, columns)
    *before, last = parse_directives(directives)
    made = Schedule(nest, nest).then(*before)
    reason = made.why_not(last)
    assert (
        (reason.code, reason.facts["size"]) == ("scratch-too-large", size)
        if reason is not None
        else size is None
    )


@pytest.mark.parametrize(
    "directives",
    [
        "split{k,30},interchange-reduction{ko,j}",
        "split{k,30},rfactor{ko,stored}",
        "split{k,30},rfactor{ko}",
    ],
)
def test_partial_sums_are_out_of_order_wherever_they_are_kept(directives: str) -> None:
    nest = _sums_of_columns(300, 32)
    first, second = nest.axes()
    directives = directives.replace("k", second).replace(",j", f",{first}")
    made = Schedule(nest, nest).then(directives)
    assert not sums_out_of_order(nest) and sums_out_of_order(made.nest)
    assert not sums_out_of_order(
        Schedule(nest, nest).then(f"interchange-reduction{{{second},{first}}}").nest
    )


@pytest.mark.parametrize(
    ("root", "count"),
    [("add(ab, cc)", 1), ("subtract(c, ab)", 1), ("add(a, c)", 0), ("multiply(ab, cc)", 0)],
)
def test_the_journal_records_a_contracted_product(root: str, count: int) -> None:
    text = f"""HloModule m
ENTRY e {{ a = f32[64] parameter(0) b = f32[64] parameter(1) c = f32[64] parameter(2)
  ab = f32[64] multiply(a, b) cc = f32[64] multiply(c, c) r = f32[64] {root} ROOT n = f32[64] negate(r) }}
"""
    (decision,) = xe.compile(text, threads=1, cache=False).decisions("loop-nest").to_dict("records")
    expected = count if described_cpu().vector.fma else 0
    assert (
        decision["verdict"] != "accepted"
        or decision["facts"].get("contracts-products", 0) == expected
    )
