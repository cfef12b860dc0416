"""Results in donated parameters; memory over the program, and its holders at the peak."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.compiler.buffers.buffer_simulator import Simulator
from xla_explorer.compiler.buffers import (
    BufferAssignment,
    BufferAssignmentError,
    assign_buffers,
    check_assignment,
)
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import make_pass
from xla_explorer.compiler.target import Abilities, Target
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.text.parser import parse_hlo

LATE = (
    "flatten-call-graph",
    "layout-assignment",
    "memory-scheduler",
    "copy-insertion",
    "memory-scheduler",
)
HEAD = "HloModule m, input_output_alias={{ {} }}\n"


def assigned(text: str, donate: bool) -> BufferAssignment:
    module = parse_hlo(text)
    for name in LATE:
        make_pass(name).run(
            module,
            PassContext(target=Target(name="any", abilities=Abilities(takes_arguments=donate))),
        )
    return assign_buffers(module, donate=donate)


def run(text: str, donate: bool, *arrays: Any) -> BufferAssignment:
    """Assign, check, run on the assigned bytes, compare with the evaluator."""
    assignment = assigned(text, donate)
    assert check_assignment(assignment) == []
    want = flatten_value(evaluate(parse_hlo(text), *arrays))
    for expected, got in zip(want, Simulator(assignment).run(*arrays), strict=True):
        np.testing.assert_array_equal(np.asarray(got).reshape(expected.shape), expected)
    return assignment


UPDATE = """ENTRY e {
  a = f32[8] parameter(0)
  u = f32[2] parameter(1)
  z = s32[] constant(3)
  d = f32[8] dynamic-update-slice(a, u, z)
  s = f32[2] add(u, u)
  ROOT t = (f32[8], f32[2]) tuple(d, s)
}
"""
A, U = np.arange(8, dtype=np.float32), np.ones(2, np.float32)


def test_an_update_of_a_given_away_parameter_needs_no_copy() -> None:
    text = HEAD.format("{0}: (0, {}, may-alias)") + UPDATE
    kept, given = run(text, False, A, U), run(text, True, A, U)
    assert any(i.opcode.name == "copy" for i in kept.module.entry.instructions.values())
    assert not any(i.opcode.name == "copy" for i in given.module.entry.instructions.values())
    assert (
        kept.aliases[0].reason is not None and kept.aliases[0].reason.code == "parameters-are-kept"
    )
    assert (
        given.aliases[0].reason is None
        and dict(given.output_slices)[(0,)].allocation.kind == "parameter"
    )


def test_a_parameter_that_is_still_read_stays_and_says_why() -> None:
    text = HEAD.format("{0}: (0, {}, may-alias)") + (
        "ENTRY e { a = f32[8] parameter(0)\n n = f32[8] negate(a)\n s = f32[8] add(n, a)\n r = f32[8] reverse(n), dimensions={0}\n"
        " k = f32[8] multiply(r, a)\n ROOT t = (f32[8], f32[8]) tuple(n, k) }"
    )
    found = run(text, True, A)
    assert (
        found.aliases[0].reason is not None
        and found.aliases[0].reason.code == "live-ranges-overlap"
    )


def test_a_result_that_is_no_alias_never_ends_in_a_given_away_parameter() -> None:
    text = HEAD.format("{1}: (0, {}, may-alias)") + UPDATE
    text = text.replace("(f32[8], f32[2]) tuple(d, s)", "(f32[8], f32[8]) tuple(d, e8)").replace(
        "  ROOT", "  e8 = f32[8] exponential(d)\n  ROOT"
    )
    found = run(text, True, A, U)
    places = dict(found.output_slices)
    assert places[(0,)].allocation.kind == "output"


def test_what_must_alias_and_cannot_is_an_error() -> None:
    text = HEAD.format("{0}: (0, {}, must-alias)") + (
        "ENTRY e { a = f32[8] parameter(0)\n n = f32[8] reverse(a), dimensions={0}\n s = f32[8] add(n, a)\n"
        " ROOT t = (f32[8], f32[8]) tuple(n, s) }"
    )
    with pytest.raises(BufferAssignmentError, match="must alias parameter 0"):
        assigned(text, True)
    assert assigned(text, False).aliases[0].must


PEAK = """HloModule m
ENTRY e {
  x = f32[64] parameter(0)
  big = f32[64,64] broadcast(x), dimensions={0}
  turned = f32[64,64] transpose(big), dimensions={1,0}
  both = f32[64,64] dot(big, turned), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[64,64] negate(both)
}
"""


def test_memory_over_the_program_has_the_lower_bound_as_its_peak() -> None:
    found = assigned(PEAK, False)
    rows = found.memory_by_position()
    assert max(live for _, _, live in rows) == found.arena_lower_bound
    assert [i.name for i, _, _ in rows] == [i.name for i in found.module.entry.sequence()]
    at = max(rows, key=lambda row: row[2])
    held = found.held_at(at[1])
    assert sum(size for _, size in held) == found.arena_lower_bound and {
        v.name for v, _ in held
    } <= {"big", "turned", "both"}
    assert at[0].name == "both" or at[0].name == "turned"
