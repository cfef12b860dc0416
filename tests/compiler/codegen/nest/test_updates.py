"""Updates as loop nests: in place or after a copy, with threads, of pads, with aliased arrays."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe
from tests.compiler.codegen.test_loop_vectorization import needs_fixed_width
from tests.support.llvm_bodies import text_of_body
from xla_explorer.backends.cpu_program.described_cpu import described_cpu
from xla_explorer.compiler.codegen import parallel_plan
from xla_explorer.compiler.codegen.lowering.lower import Lowering
from xla_explorer.compiler.codegen.nest.ir import LoopNest
from xla_explorer.compiler.codegen.nest.meaning import evaluate_nest
from xla_explorer.compiler.codegen.nest.plain_nests.from_hlo import nest_of
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.schedule_text import parse_directives
from xla_explorer.compiler.codegen.nest_kernels import NestCode, nest_code

UPDATE = """HloModule update{alias}
ENTRY e {{
  x = f32[40,37] parameter(0)
  u = f32[{rows},{columns}] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT r = f32[40,37] dynamic-update-slice(x, u, i, j)
}}"""
ALIAS = ", input_output_alias={ {}: (0, {}, must-alias) }"


@needs_fixed_width
@pytest.mark.parametrize(("rows", "columns"), [(3, 37), (1, 20), (40, 5)])
@pytest.mark.parametrize("alias", ["", ALIAS])
@pytest.mark.parametrize("threads", [1, 3])
def test_updates_have_the_evaluators_values(
    rows: int, columns: int, alias: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel_plan, "TASK_WAKES", 1e-6)
    session = xe.compile(
        UPDATE.format(alias=alias, rows=rows, columns=columns), threads=threads, cache=False
    )
    x, u = (
        np.arange(1480, dtype=np.float32).reshape(40, 37),
        -np.arange(1, rows * columns + 1, dtype=np.float32).reshape(rows, columns),
    )
    wanted = x.copy()
    at = min(38, 40 - rows), min(9, 37 - columns)
    wanted[at[0] : at[0] + rows, at[1] : at[1] + columns] = u
    np.testing.assert_array_equal(session.run_flat([x, u, np.int32(38), np.int32(9)])[0], wanted)
    assert "made-from-nest" in set(session.decisions("loop-nest")["code"])


def test_what_overwrites_is_not_shared_with_what_it_overwrites() -> None:
    module = xe.parse_hlo(UPDATE.format(alias="", rows=3, columns=37))
    nest = nest_of(module.entry.root, copied=True)
    assert isinstance(nest, LoopNest)
    copy, update = [str(name) for name in nest.axes() if nest.axes()[name].axis.extent in (40, 3)]
    schedule = Schedule(nest, nest)
    assert schedule.why_not(parse_directives(f"parallel{{{copy},2}}")[0]) is None
    refused = schedule.why_not(parse_directives(f"parallel{{{update},2}}")[0])
    assert refused is not None and refused.code == "not-outermost"
    x, u = np.zeros((40, 37), np.float32), np.ones((3, 37), np.float32)
    (found,) = evaluate_nest(nest, [x, u, np.int32(50), np.int32(0)])
    assert found[37:].all() and not found[:37].any()


@pytest.mark.parametrize(
    ("rules", "shape"),
    [("0_0_1x0_0", "5,4"), ("1_2_0x2_1_2", "3,13"), ("0_0_1x0_0_2", "3,13"), ("-1_0_1x0_0", "5,4")],
)
@pytest.mark.parametrize("threads", [1, 3])
def test_pads_between_elements(
    rules: str, shape: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel_plan, "TASK_WAKES", 1e-6)
    extents = [int(n) for n in shape.split(",")]
    x = np.arange(1, 1 + np.prod(extents), dtype=np.float32).reshape(extents)
    numbers = [[*map(int, rule.split("_")), 0] for rule in rules.split("x")]
    rows, columns = [
        n + (n - 1) * interior + low + high
        for n, (low, high, interior, *_) in zip(extents, numbers, strict=True)
    ]
    parameters = f"x = f32[{shape}] parameter(0) z = f32[] parameter(1)"
    text = f"HloModule m\nENTRY e {{ {parameters} ROOT r = f32[{rows},{columns}] pad(x, z), padding={rules} }}"
    session = xe.compile(text, threads=threads, cache=False)
    np.testing.assert_array_equal(
        session.run_flat([x, np.float32(-1)])[0], xe.evaluate(xe.parse_hlo(text), x, np.float32(-1))
    )


def test_shared_memory_is_not_read_before_its_turn() -> None:
    module = xe.parse_hlo(
        "HloModule m\nENTRY e { x = f32[64] parameter(0) y = f32[64] parameter(1) ROOT r = f32[64] add(x, y) }"
    )
    apart, together = [
        nest_code(module.entry.root, described_cpu(), (0, 1, 2), may_alias=overlap)
        for overlap in (False, True)
    ]
    assert isinstance(apart, NestCode) and isinstance(together, NestCode)
    text = text_of_body(together.body)
    loop = text.index("\nloop")
    assert text.count("= load float", loop) == 2 and "x float>" not in text


@pytest.mark.parametrize("in_place", [True, False])
def test_the_operand_of_an_update_in_place_counts_as_changing(in_place: bool) -> None:
    """Its memory has the name of the result too.

    Loads of the operand stay in their loops, other loads are hoisted.
    """
    root = xe.parse_hlo(UPDATE.format(alias="", rows=3, columns=37)).entry.root
    nest = nest_of(root, in_place=in_place, copied=not in_place)
    assert isinstance(nest, LoopNest)
    lowering = Lowering(nest, [f"%a{k}" for k in range(len(nest.arrays))])
    assert {a.name: lowering.memory[a.name].written for a in nest.arrays} == {
        "x": in_place,
        "u": False,
        "i": False,
        "j": False,
        "out": True,
    }
