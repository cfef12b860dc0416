"""Steps on loop nests: what they decide about axes, guards and accesses."""

from __future__ import annotations

import numpy as np
import pytest

from xla_explorer.compiler.codegen.lowering.nest_steps.bind_launch import bound, bound_to_tasks
from xla_explorer.compiler.codegen.lowering.nest_steps.choose_guards import with_branches
from xla_explorer.compiler.codegen.lowering.nest_steps.order_instances import (
    with_ordered_instances,
)
from xla_explorer.compiler.codegen.lowering.nest_steps.partition_loops import (
    with_partitioned_loops,
)
from xla_explorer.compiler.codegen.lowering.nest_steps.split_reductions import (
    with_private_reductions,
)
from xla_explorer.compiler.codegen.lowering.nest_steps.stride_loops import with_strides
from xla_explorer.compiler.codegen.lowering.nest_steps.wide_memory import with_wide_accesses
from xla_explorer.compiler.codegen.nest.ir import For, Reduce
from xla_explorer.compiler.codegen.nest.meaning import evaluate_nest
from xla_explorer.compiler.codegen.nest.parser import parse_nest
from xla_explorer.compiler.codegen.nest.text import nest_text
from xla_explorer.compiler.codegen.nest.verifier import why_not_well_formed
from xla_explorer.hlo.analysis.indexing import Axis

COPY = """kernel @copy(%x: {t}[{n}], out %y: {t}[{n}]) {{
  {loops}
    %1 = load %x[{at}] : {t}
    store %1, %y[{at}]
  {ends}
}}
"""


def _copy(loops: list[str], at: str, n: int = 1024, t: str = "f32") -> str:
    heads = " ".join([f"for {loop} {{\n" for loop in loops])
    return COPY.format(loops=heads, at=at, n=n, t=t, ends="}\n" * len(loops))


ROWS = """kernel @rows(%x: f32[4,60], out %y: f32[4]) {
  %1 = constant 2 : f32
  for i in 4 @block {
    %2 = reduce COMBINER from %1 over k in 2 @serial, t in 8 @thread, v in 4 @vector where 32*k + 4*t + v < 60 : f32 {
      %3 = load %x[i, 32*k + 4*t + v] : f32
      yield %3
    }
    store %2, %y[i]
  }
}
"""


@pytest.mark.parametrize("combiner", ["add", "maximum", "multiply"])
def test_each_thread_reduces_before_threads_combine(combiner: str) -> None:
    nest = parse_nest(ROWS.replace("COMBINER", combiner))
    split = with_private_reductions(nest)
    assert not why_not_well_formed(split)
    assert nest_text(parse_nest(nest_text(split))) == nest_text(split)
    crossing, private = [s for s, _ in split.statements() if isinstance(s, Reduce)]
    assert [b.axis.name for b in crossing.axes] == ["t"] and not crossing.guards
    assert [b.axis.name for b in private.axes] == ["k", "v"] and private.guards
    x = np.random.default_rng(3).integers(1, 3, (4, 60)).astype(np.float32)
    (found,), (wanted,) = evaluate_nest(split, [x]), evaluate_nest(nest, [x])
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    assert with_private_reductions(split) is split


@pytest.mark.parametrize("split", [False, True])
def test_only_the_last_iteration_has_guards(split: bool) -> None:
    nest = parse_nest(ROWS.replace("COMBINER", "add"))
    nest = with_private_reductions(nest) if split else nest
    made = with_partitioned_loops(nest)
    assert not why_not_well_formed(made)
    assert nest_text(parse_nest(nest_text(made))) == nest_text(made)
    *_, first, last = [s for s, _ in made.statements() if isinstance(s, Reduce)]
    assert not first.guards and last.guards and last.initial == first.ids
    assert first.axes[0].axis == Axis("k", 1) and "vl" in [b.axis.name for b in last.axes]
    x = np.random.default_rng(3).integers(1, 3, (4, 60)).astype(np.float32)
    (found,), (wanted,) = evaluate_nest(made, [x]), evaluate_nest(nest, [x])
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


@pytest.mark.parametrize(
    ("guard", "at", "n", "loops"),
    [
        ("4*i + j < 30", "4*i + j", 30, 2),
        ("4*i + j < 25", "4*i + j", 25, 1),
        ("j < 3", "3*i + j", 24, 1),
    ],
)
def test_loops_are_partitioned_if_one_iteration_needs_guards(
    guard: str, at: str, n: int, loops: int
) -> None:
    nest = parse_nest(_copy(["i in 8 @serial", f"j in 4 @serial where {guard}"], at, n))
    made = with_partitioned_loops(nest)
    axes = [s.axis.name for s, _ in made.statements() if isinstance(s, For)]
    assert [name for name in axes if name.startswith("i")] == ["i", "il"][:loops]
    x = np.arange(n, dtype=np.float32)
    np.testing.assert_array_equal(evaluate_nest(made, [x])[0], x)


def test_axes_of_a_launch_become_numbers_of_blocks_and_threads() -> None:
    nest = parse_nest(
        _copy(["i in 4 @block", "j in 8 @thread", "k in 32 @warp"], "256*i + 32*j + k")
    )
    text = nest_text(bound(nest))
    assert "with block in 4, thread in 256 {" in text
    assert "for i in 4 @block = block {" in text
    assert "for j in 8 @thread = thread // 32 {" in text
    assert "for k in 32 @warp = thread % 32 {" in text
    assert "once" not in text


def test_one_of_equal_threads_stores() -> None:
    """The first loop has 64 threads, the second only 8: one thread of each 8 stores there."""
    first = _copy(["j in 64 @thread"], "j")
    nest = parse_nest(
        first.rstrip().removesuffix("}")
        + "for i in 8 @thread {\n %2 = load %x[i] : f32\n store %2, %y[i]\n }\n}\n"
    )
    text = nest_text(bound(nest))
    assert "for i in 8 @thread = thread // 8 {" in text
    assert text.count("@serial if thread % 8 < 1 {") == text.count("once") == 1


def test_a_parallel_loop_of_one_step_a_task_has_the_number_of_the_task() -> None:
    text = _copy(["i in 8 @parallel", "j in 128 @serial"], "128*i + j")
    nest = parse_nest(text.replace(") {", ") tasks 8 {", 1))
    assert "for i in 8 @parallel = task {" in nest_text(bound_to_tasks(nest))
    other = parse_nest(text.replace(") {", ") tasks 4 {", 1))
    assert bound_to_tasks(other) is other


@pytest.mark.parametrize(
    ("loops", "branches"),
    [
        (["i in 9 @thread where i < 8", "j in 4 @serial"], True),
        (["j in 4 @unrolled", "i in 9 @thread where i < 8"], True),
        (["i in 2 @thread", "j in 4 @unrolled where 4*i + j < 7"], False),
    ],
)
def test_guards_are_branches_if_all_instances_agree(loops: list[str], branches: bool) -> None:
    nest = with_branches(parse_nest(_copy(loops, "0")))
    assert any(form.branches for form in nest.forms.values()) is branches


@pytest.mark.parametrize(
    ("loops", "at", "t", "wide"),
    [
        (["i in 64 @thread", "j in 16 @vector"], "16*i + j", "f32", "contiguous 4 along j"),
        (["i in 64 @thread", "j in 16 @vector"], "16*i + j", "f64", "contiguous 2 along j"),
        (["i in 64 @thread", "j in 6 @unrolled"], "6*i + j", "f32", "contiguous 2 along j"),
        (["i in 64 @thread", "j in 16 @unrolled"], "i + 64*j", "f32", ""),
        (["i in 64 @thread", "j in 4 @unrolled"], "5*i + j", "f32", ""),
        (["i in 64 @thread", "j in 16 @unrolled"], "16*i + j", "pred", ""),
    ],
)
def test_neighbours_in_memory_are_moved_together(
    loops: list[str], at: str, t: str, wide: str
) -> None:
    text = nest_text(with_wide_accesses(bound(parse_nest(_copy(loops, at, t=t)))))
    assert text.count(" along ") == (2 if wide else 0) and wide in text


@pytest.mark.parametrize(
    ("at", "form"),
    [
        ("16*i + k", "contiguous 16 along k"),
        ("-16*i - k + 1023", "backwards 16 along k"),
        ("i + 64*k", "strided 16 along k"),
        ("i", ""),
    ],
)
def test_each_access_of_lanes_has_a_form(at: str, form: str) -> None:
    nest = with_wide_accesses(parse_nest(_copy(["i in 64 @serial", "k in 16 @vector"], at)))
    assert nest_text(nest).count(" along ") == (2 if form else 0) and form in nest_text(nest)


def test_lanes_at_places_that_are_values_are_gathered() -> None:
    text = """kernel @gather(%x: f32[64], %p: s32[64], out %y: f32[64]) {
  for i in 4 @serial {
    for k in 16 @vector {
      %1 = load %p[16*i + k] : s32
      %2 = load %x[clamp(%1[16*i + k], 0, 63)] : f32
      store %2, %y[16*i + k]
    }
  }
}
"""
    found = nest_text(with_wide_accesses(parse_nest(text)))
    assert found.count("contiguous 16 along k") == 2 and found.count("gathered 16 along k") == 1


def test_lanes_that_are_not_contiguous_are_squares() -> None:
    loops = ["i in 8 @serial", "j in 16 @unrolled", "k in 16 @vector"]
    nest = with_wide_accesses(parse_nest(_copy(loops, "64*k + 16*i + j", 2048)))
    assert "load %x[64*k + 16*i + j] square 16 along j" in nest_text(nest)


@pytest.mark.parametrize(("instances", "one_by_one"), [(16, True), (8, False)])
def test_many_instances_of_a_reduction_are_written_one_by_one(
    instances: int, one_by_one: bool
) -> None:
    nest = parse_nest(
        f"""kernel @rows(%x: f32[{instances},60], out %y: f32[{instances}]) {{
  %1 = constant 0 : f32
  for i in {instances} @unrolled {{
    %2 = reduce add from %1 over k in 60 @serial : f32 {{
      %3 = load %x[i, k] : f32
      yield %3
    }}
    store %2, %y[i]
  }}
}}
"""
    )
    assert (" one-by-one" in nest_text(with_ordered_instances(nest))) is one_by_one


def test_loops_count_in_the_common_factor_of_indices() -> None:
    nest = parse_nest(_copy(["i in 64 @serial", "j in 16 @vector"], "16*i + j"))
    assert "for i in 64 @serial by 16 {" in nest_text(with_strides(nest))
