"""Buffer assignment: random programs run on the assigned bytes; in-place loops; sharing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.compiler.buffers.buffer_simulator import Simulator
from tests.compiler.buffers.random_programs import ProgramWriter
from xla_explorer.compiler.buffers import (
    BufferAssignment,
    BufferAssignmentError,
    assign_buffers,
    check_assignment,
)
from xla_explorer.compiler.buffers.packing import _best_fit_in_time, _first_fit_decreasing, aligned
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import make_pass
from xla_explorer.foundation.journal import Journal
from xla_explorer.hlo.analysis import coalescing
from xla_explorer.hlo.analysis.liveness import LiveRange, peak_live_bytes
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text.parser import parse_hlo

_OPTIONS = {
    "multi-output-fusion": {"min_bytes": 64},
    "double-buffer-loop-unrolling": {"min_bytes": 64},
}  # for small programs
_LATE = ("flatten-call-graph", "memory-scheduler", "copy-insertion")
_ALL = (
    "while-loop-trip-count-annotator",
    "layout-assignment",
    "reshape-decomposer",
    "fusion",
    "fusion-wrapper",
    "multi-output-fusion",
    "double-buffer-loop-unrolling",
    *_LATE,
)


def compiled(
    text: str, passes: tuple[str, ...] = _ALL, context: PassContext | None = None
) -> HloModule:
    module = parse_hlo(text)
    for name in passes:
        make_pass(name, **_OPTIONS.get(name, {})).run(module, context or PassContext())
    return module


def assigned(
    text: str, *arguments: Any, passes: tuple[str, ...] = _ALL
) -> tuple[HloModule, BufferAssignment]:
    """Compile, assign, check, run on the bytes, compare with the evaluator."""
    want = flatten_value(evaluate(parse_hlo(text), *arguments))
    module = compiled(text, passes)
    assignment = assign_buffers(module)
    assert check_assignment(assignment) == []
    got = Simulator(assignment).run(*arguments)
    for a, b in zip(want, got, strict=True):
        np.testing.assert_allclose(np.asarray(a), b, rtol=1e-5, atol=1e-5)
    return module, assignment


def copies(module: HloModule) -> list[str]:
    return [i.name for i in module.instructions() if i.opcode.name == "copy"]


@pytest.mark.parametrize("passes", [_ALL, _LATE], ids=["fused", "plain"])
@pytest.mark.parametrize("start", range(0, 120, 20))
@pytest.mark.sampled(2)
def test_random_programs_keep_their_value_on_the_assigned_bytes(
    start: int, passes: tuple[str, ...]
) -> None:
    for seed in range(start, start + 20):
        text = ProgramWriter(seed).text()
        generator = np.random.default_rng(seed)
        arguments = [generator.standard_normal((4, 8)).astype(np.float32) for _ in range(3)] + [
            np.int32(seed % 4)
        ]
        module, assignment = assigned(text, *arguments, passes=passes)
        assert assignment.arena_size >= assignment.arena_lower_bound
        assert [
            i.name for i in parse_hlo(module.to_text()).entry.schedule or module.entry.schedule
        ]  # the text stays readable


def test_the_simulator_notices_wrong_sharing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coalescing, "interfere", lambda x, y: False)
    found = 0
    for seed in range(12):
        assignment = assign_buffers(compiled(ProgramWriter(seed).text()))
        found += bool(check_assignment(assignment))
    assert found


_LOOP = """HloModule loop
body {{
  s = (s32[], f32[1024], f32[1024]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  a = f32[1024] get-tuple-element(s), index=1
  b = f32[1024] get-tuple-element(s), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  {body}
}}
condition {{
  s = (s32[], f32[1024], f32[1024]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT
}}
ENTRY main {{
  x = f32[1024] parameter(0)
  y = f32[1024] parameter(1)
  zero = s32[] constant(0)
  {init}
  w = (s32[], f32[1024], f32[1024]) while(t), condition=condition, body=body
  p = f32[1024] get-tuple-element(w), index=1
  q = f32[1024] get-tuple-element(w), index=2
  ROOT r = (f32[1024], f32[1024]) tuple(p, q)
}}
"""
_X = np.arange(1024, dtype=np.float32)
_Y = np.cos(_X)
_FRESH = "nx = f32[1024] negate(x)\n  ny = f32[1024] negate(y)\n  t = (s32[], f32[1024], f32[1024]) tuple(zero, nx, ny)"
_GIVEN = "t = (s32[], f32[1024], f32[1024]) tuple(zero, x, y)"


def test_a_swap_takes_three_copies_an_iteration() -> None:
    module, _ = assigned(
        _LOOP.format(body="ROOT u = (s32[], f32[1024], f32[1024]) tuple(j, b, a)", init=_FRESH),
        _X,
        _Y,
    )
    body = next(c for c in module.computations.values() if c.name == "body")
    assert sum(i.opcode.name == "copy" for i in body.instructions.values()) == 3
    assert (
        copies(module) and len(copies(module)) == 4
    )  # and one for the initial counter, a constant


def test_loop_invariant_elements_are_not_copied() -> None:
    module, assignment = assigned(
        _LOOP.format(
            body="n = f32[1024] add(a, b)\n  ROOT u = (s32[], f32[1024], f32[1024]) tuple(j, n, b)",
            init=_GIVEN,
        ),
        _X,
        _Y,
    )
    names = copies(module)
    assert len(names) == 3  # counter, x (it becomes state), and y, which the entry returns as it is
    body = next(c for c in module.computations.values() if c.name == "body")
    assert not [i for i in body.instructions.values() if i.opcode.name == "copy"]
    w = module.find("w")
    assert assignment.slice_of(w, (2,)).allocation.kind == "parameter"
    assert assignment.slice_of(w, (1,)).allocation.kind == "output"


def test_elementwise_state_is_updated_in_place() -> None:
    module, assignment = assigned(
        _LOOP.format(
            body="n = f32[1024] add(a, b)\n  m = f32[1024] cosine(b)\n  ROOT u = (s32[], f32[1024], f32[1024]) tuple(j, n, m)",
            init=_FRESH,
        ),
        _X,
        _Y,
    )
    assert len(copies(module)) == 1  # the counter
    assert assignment.arena_size <= 128


def test_a_state_that_is_read_after_its_successor_is_made_is_copied() -> None:
    module, _ = assigned(
        _LOOP.format(
            body="n = f32[1024] reverse(a), dimensions={0}\n  m = f32[1024] add(a, b)\n  ROOT u = (s32[], f32[1024], f32[1024]) tuple(j, n, m)",
            init=_FRESH,
        ),
        _X,
        _Y,
    )
    body = next(c for c in module.computations.values() if c.name == "body")
    assert [
        i.operands[0].opcode.name for i in body.instructions.values() if i.opcode.name == "copy"
    ] == ["fusion"]


def test_one_value_in_two_elements() -> None:
    assigned(
        _LOOP.format(
            body="n = f32[1024] cosine(a)\n  ROOT u = (s32[], f32[1024], f32[1024]) tuple(j, n, n)",
            init=_FRESH,
        ),
        _X,
        _Y,
    )
    assigned(
        _LOOP.format(
            body="n = f32[1024] cosine(a)\n  ROOT u = (s32[], f32[1024], f32[1024]) tuple(j, b, n)",
            init="t = (s32[], f32[1024], f32[1024]) tuple(zero, x, x)",
        ),
        _X,
        _Y,
    )


def test_an_update_of_loop_state_does_not_copy_it() -> None:
    module, assignment = assigned(
        _LOOP.format(
            body="""k = f32[1] dynamic-slice(a, i), dynamic_slice_sizes={1}
  o = f32[1] cosine(k)
  d = f32[1024] dynamic-update-slice(b, o, i)
  ROOT u = (s32[], f32[1024], f32[1024]) tuple(j, a, d)""",
            init=_FRESH,
        ),
        _X,
        _Y,
    )
    assert len(copies(module)) == 1
    w = module.find("w")
    assert (
        assignment.slice_of(w, (2,))
        == assignment.slice_of(w.operands[0], (2,))
        == assignment.slice_of(w.called[1].root, (2,))
    )


def test_a_parameter_is_copied_before_it_is_updated_and_the_journal_says_why() -> None:
    text = """HloModule m
ENTRY e {
  p = f32[64] parameter(0)
  u = f32[4] parameter(1)
  i = s32[] parameter(2)
  ROOT d = f32[64] dynamic-update-slice(p, u, i)
}"""
    journal = Journal("decisions")
    module = compiled(text, context=PassContext(journal))
    assert len(copies(module)) == 1
    denied = [e for e in journal.events if e.verdict == "refused" and e.by == "share-buffer"]
    assert [e.reason.code for e in denied if e.reason] == ["read-only-parameter"]
    assigned(text, np.ones(64, np.float32), np.zeros(4, np.float32), np.int32(7))


def test_entry_results_that_are_parameters_constants_or_repeated_get_buffers_of_their_own() -> None:
    text = """HloModule m
ENTRY e {
  p = f32[64] parameter(0)
  c = f32[3] constant({1,2,3})
  n = f32[64] negate(p)
  ROOT t = (f32[64], f32[3], f32[64], (f32[64], f32[64])) tuple(p, c, n, (f32[64], f32[64]) tuple(n, p))
}""".replace("(f32[64], f32[64]) tuple(n, p))", "inner)").replace(
        "  ROOT", "  inner = (f32[64], f32[64]) tuple(n, p)\n  ROOT"
    )
    module, assignment = assigned(text, np.arange(64, dtype=np.float32))
    assert len(copies(module)) == 4
    assert all(where.allocation.kind == "output" for _, where in assignment.output_slices)
    assert len({where.allocation.id for _, where in assignment.output_slices}) == 5


def test_conditional_branches_leave_their_results_in_one_place() -> None:
    text = """HloModule m
yes {
  x = f32[256] parameter(0)
  ROOT n = f32[256] negate(x)
}
no {
  y = f32[256] parameter(0)
  ROOT b = f32[256] add(y, y)
}
ENTRY e {
  c = pred[] parameter(0)
  x = f32[256] parameter(1)
  k = f32[256] cosine(x)
  r = f32[256] conditional(c, k, k), true_computation=yes, false_computation=no
  ROOT s = f32[256] add(r, x)
}"""
    for choice in (True, False):
        module, assignment = assigned(text, np.bool_(choice), np.arange(256, dtype=np.float32))
    r = module.find("r")
    assert {assignment.slice_of(branch.root) for branch in r.called} == {assignment.slice_of(r)}


def test_layouts_at_the_entry() -> None:
    text = """HloModule m, entry_computation_layout={(f32[3,5]{0,1})->(f32[5,3]{0,1}, f32[3,5]{0,1})}
ENTRY e {
  x = f32[3,5]{0,1} parameter(0)
  t = f32[5,3]{1,0} transpose(x), dimensions={1,0}
  n = f32[3,5]{1,0} negate(x)
  ROOT r = (f32[5,3]{0,1}, f32[3,5]{0,1}) tuple(t, n)
}"""
    module, _ = assigned(text, np.arange(15, dtype=np.float32).reshape(3, 5))
    assert [s.text for s in module.result_shape().tuple_shapes] == [
        "f32[5,3]{0,1}",
        "f32[3,5]{0,1}",
    ]


def test_loop_state_without_copies_is_an_error_that_names_the_pass() -> None:
    module = compiled(
        _LOOP.format(body="ROOT u = (s32[], f32[1024], f32[1024]) tuple(j, b, a)", init=_GIVEN),
        ("flatten-call-graph", "memory-scheduler"),
    )
    with pytest.raises(BufferAssignmentError, match="cannot stay in one buffer"):
        assign_buffers(module)


def test_why_not_shared_gives_the_reason() -> None:
    module, assignment = assigned(
        """HloModule m
ENTRY e {
  x = f32[64,64] parameter(0)
  a = f32[64,64] cosine(x)
  t = f32[64,64] transpose(a), dimensions={1,0}
  d = f32[64,64] dot(t, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  n = f32[64,64] negate(d)
  ROOT s = f32[64,64] dot(n, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}""",
        np.ones((64, 64), np.float32),
    )
    a, t, d, n, x = (
        module.find(name)
        for name in ("wrapped_cosine", "wrapped_transpose", "d", "wrapped_negate", "x")
    )

    def code(p: Any, q: Any) -> str | None:
        reason = assignment.why_not_shared(p, q)
        return reason.code if reason else None

    assert code(a, t) == "live-ranges-overlap"
    assert code(x, a) == "read-only-parameter"
    assert code(d, n) is None  # elementwise over an operand that dies
    assert (
        code(t, n) == "live-ranges-overlap"
    )  # n lives where d does, and the dot reads t while it writes d
    assert {row["kind"] for row in assignment.to_rows()} == {"parameter", "arena", "output"}


def test_values_of_other_sizes_lie_apart_because_both_are_needed() -> None:
    module, assignment = assigned(
        """HloModule m
add { p = f32[] parameter(0) q = f32[] parameter(1) ROOT a = f32[] add(p, q) }
ENTRY e {
  x = f32[64,64] parameter(0)
  z = f32[] constant(0)
  d = f32[64,64] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  r = f32[64] reduce(d, z), dimensions={1}, to_apply=add
  c = f32[64,64] dot(d, d), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  b = f32[64] dot(c, r), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT s = f32[64] dot(c, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}""",
        np.ones((64, 64), np.float32),
    )
    d, b = module.find("d"), module.find("b")
    r = next(i for i in d.users if i.shape.text.startswith("f32[64]{"))
    together = assignment.why_not_shared(d, r)
    assert together is not None and (together.code, together.facts["first"]) == (
        "live-ranges-overlap",
        "d",
    )
    in_turn = assignment.why_not_shared(d, b)
    assert in_turn is None or in_turn.code == "different-places"


@pytest.mark.parametrize("pack", [_first_fit_decreasing, _best_fit_in_time])
def test_packing_never_overlaps(pack: Any) -> None:
    generator = np.random.default_rng(1)
    ranges = []
    for _ in range(300):
        start = int(generator.integers(0, 500))
        ranges.append(
            LiveRange(
                start, start + int(generator.integers(0, 40)), int(generator.integers(1, 5000))
            )
        )
    offsets, total = pack(ranges)
    assert total >= peak_live_bytes(ranges)[0]
    assert total < 1.6 * peak_live_bytes(ranges)[0]
    for k, a in enumerate(ranges):
        assert offsets[k] % 64 == 0 and offsets[k] + a.size <= total
        for m in range(k):
            b = ranges[m]
            if a.start <= b.end and b.start <= a.end:
                assert (
                    offsets[k] + aligned(a.size) <= offsets[m]
                    or offsets[m] + aligned(b.size) <= offsets[k]
                )


def test_scheduling_again_keeps_the_order_of_copies() -> None:
    text = _LOOP.format(body="ROOT u = (s32[], f32[1024], f32[1024]) tuple(j, b, a)", init=_GIVEN)
    module = compiled(text)
    body = next(c for c in module.computations.values() if c.name == "body")
    before = body.schedule
    assert not make_pass("memory-scheduler").run(module, PassContext())
    assert body.schedule == before
    assert check_assignment(assign_buffers(module)) == []
    assigned(text, _X, _Y, passes=(*_ALL, "dce", "memory-scheduler"))


def test_two_iterations_at_once_save_the_copy_of_a_stencil_and_of_a_swap() -> None:
    passes = (
        "layout-assignment",
        "while-loop-trip-count-annotator",
        "fusion",
        "fusion-wrapper",
        "double-buffer-loop-unrolling",
        *_LATE,
    )
    for body in (
        "n = f32[1024] reverse(a), dimensions={0}\n  m = f32[1024] cosine(b)\n  ROOT u = (s32[], f32[1024], f32[1024]) tuple(j, n, m)",
        "ROOT u = (s32[], f32[1024], f32[1024]) tuple(j, b, a)",
    ):
        text = _LOOP.format(body=body, init=_FRESH).replace(
            "n = s32[] constant(3)", "n = s32[] constant(6)"
        )
        module, _ = assigned(text, _X, _Y, passes=passes)
        assert '"n":"3"' in module.find("w").attributes["backend_config"]
        inside = next(c for c in module.computations.values() if c.name == "body")
        assert not [i for i in inside.instructions.values() if i.opcode.name == "copy"]
        odd, _ = assigned(text.replace("constant(6)", "constant(5)"), _X, _Y, passes=passes)
        assert [
            i for i in odd.instructions() if i.opcode.name == "copy" and i.parent.name == "body"
        ]
    text = _LOOP.format(
        body="n = f32[1024] add(a, b)\n  ROOT u = (s32[], f32[1024], f32[1024]) tuple(j, n, b)",
        init=_FRESH,
    )
    journal = Journal("decisions")
    compiled(text.replace("constant(3)", "constant(6)"), passes, PassContext(journal))
    assert "no-copy-to-save" in {e.reason.code for e in journal.events if e.reason}


def test_an_update_of_a_constant_of_one_element() -> None:
    text = """HloModule m
ENTRY e {
  c = f32[1] constant({3})
  z = s32[] constant(0)
  u = f32[1] parameter(0)
  n = f32[1] negate(u)
  ROOT d = f32[1] dynamic-update-slice(c, n, z)
}"""
    for passes in (_ALL, ("fusion-wrapper", *_LATE)):
        module, _ = assigned(text, np.ones(1, np.float32), passes=passes)
        assert len(copies(module)) == 1


def test_the_journal_does_not_change_the_result() -> None:
    for seed in range(10):
        text = ProgramWriter(seed).text()
        assert (
            compiled(text).to_text()
            == compiled(text, context=PassContext(Journal("decisions"))).to_text()
        )


def test_a_bitcast_between_layouts_keeps_its_meaning() -> None:
    text = """HloModule m
ENTRY e {
  x = f32[3,5]{0,1} parameter(0)
  n = f32[3,5]{0,1} negate(x)
  b = f32[5,3]{1,0} bitcast(n)
  c = f32[15]{0} bitcast(n)
  d = f32[3,5]{0,1} bitcast(c)
  ROOT r = (f32[5,3], f32[15], f32[3,5]) tuple(b, c, d)
}"""
    assigned(text, np.arange(15, dtype=np.float32).reshape(3, 5))
    assigned(
        text, np.arange(15, dtype=np.float32).reshape(3, 5), passes=("layout-assignment", *_LATE)
    )
