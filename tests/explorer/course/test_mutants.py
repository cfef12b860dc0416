"""Mutants of every reference solution: each is refused or listed as equivalent."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import xla_explorer as xe
from tests.explorer.course.mutants import answer_of, mutants, source_of
from tests.notebooks.course_notebooks import solution_cells

# By exercise, the edits that change no answer, with why.
EQUAL: dict[str, set[str]] = {
    "nb01.strides": {"0 -> 1"},  # a list whose elements are all written
    "nb05.unsafe": {"1.0 -> 2.0", "1e+30 -> 1e+30"},  # another witness
    "nb05.rules": {  # None is no number either; the sign of 1 is that of 1
        "value is None or value != number -> value != number",
        "number != 0 or math.copysign(1, value) == math.copysign(1, number) -> math.copysign(1, value) == math.copysign(1, number)",
    },
    "nb07.plan": {  # plan_refusal refuses what is left in
        "not is_given(i) and i not in needed -> not is_given(i) or i not in needed",
        "not is_given(i) and i not in needed -> i not in needed",
        "not is_given(i) and i not in needed -> not is_given(i)",
    },
    "nb08.assign": {"0 -> 1 (2)", "1 -> 2"},  # a list whose elements are all written; another order of equal sizes
    "nb10.block": {
        *("16 -> 17", "8 -> 9", "4 -> 5", "2 -> 3"),  # lanes whose numbers differ in these bits: all 32 are met as well
        *("without add.u32 %r7, %r6, %r7;", "without add.u32 %r7, %r6, %r7; (2)"),  # the only shared array lies at 0
        "without @%p3 bra done;",  # the other warps compute, too, and do not store
        "without setp.ne.u32 %p2, %r1, 0;",  # in the first warp the lane is the thread
    },
    "nb13.compile": {"i.opcode.name == 'broadcast' and i.operands[0].opcode.name == 'constant' -> i.opcode.name == 'broadcast'"},  # by the text
    "nb14.first_wrong": {  # whatever array `after` has is in got
        "i.name in right and i.name in got and (not same_bits(right[i.name], got[i.name])) -> "
        "i.name in right and (not same_bits(right[i.name], got[i.name]))",
    },
    "nb14.shrink": {  # one round goes on with the candidates of the module before
        "if still_fails(candidate): module, progress = (candidate, True) break -> if still_fails(candidate): module, progress = (candidate, True) pass",
    },
    "nb15.blocks": {"1 -> 2 (2)"},  # n + 1 does not divide n
    "nb16.trip_count": {
        "(limit - start) // step > 0 -> (limit - start) // step >= 0",  # 0 was answered before
        "(limit - start) // step -> (limit - start) * step (2)",  # the same sign
    },
    "nb17.live_in": {"reversed(blocks.items()) -> list(blocks.items())"},  # another order, the same fixed point
    "nb18.gradients": {"i in found and i.operands -> i in found", "True -> False"},  # nothing to hand on; lengths that are equal
    "nb21.merge": {"0 -> 1"},  # what stands for -inf: exp(-inf - 1) is 0, too
    "nb21.beat": {"8 -> 9"},  # another block that is right
    "nb22.fast": {"0 -> 1 (3)", "0 -> 1 (4)"},  # which of the free tiles is taken
    "nb22.compile": {
        "1 -> 2",  # a vector has room for one column more
        "name == 'broadcast' and operands[0] in numbers -> operands[0] in numbers",  # of the programs that it must run only broadcasts read one
    },
    "nb22.backend": {"True -> False"},  # as many arguments as parameters
}  # fmt: skip
# Left out: the parts of a compiler that cells write to files (%%writefile), which are no Python of
# the notebook.
EXERCISES = [name for name, cell in solution_cells().items() if not cell.startswith("%%")]

pytestmark = pytest.mark.skipif(
    not solution_cells(), reason="the reference solutions are not in this copy: NO mutants are made"
)


@pytest.fixture(autouse=True)
def _options_as_before() -> Iterator[None]:
    """Restore the option `isolate`, which cells of notebooks set in this process."""
    with xe.options.set(isolate=xe.options.isolate):
        yield


def test_the_edits() -> None:
    found = {
        m.what: m.source
        for m in mutants(
            "def f(x):\n    y = [0]\n    if x < 1:\n        y += x\n    return max(y) or x[1:]"
        )
    }
    assert set(found) == {
        "0 -> 1", "1 -> 2", "1 -> 2 (2)", "x < 1 -> x <= 1", "if x < 1: y += x -> if not x < 1: y += x", "y += x -> y -= x",
        "max(y) or x[1:] -> max(y) and x[1:]", "max(y) or x[1:] -> x[1:]", "max(y) or x[1:] -> max(y)", "max(y) -> min(y)", "x[1:] -> x[:]",
        "def f(x): y = [0] if x < 1: y += x return max(y) or x[1:] -> def f(x): pass if x < 1: y += x return max(y) or x[1:]",
        "if x < 1: y += x -> if x < 1: pass",
    }  # fmt: skip
    assert (
        found["x < 1 -> x <= 1"]
        == "def f(x):\n    y = [0]\n    if x <= 1:\n        y += x\n    return max(y) or x[1:]"
    )


@pytest.mark.long
@pytest.mark.parametrize("name", EXERCISES)
@pytest.mark.sampled(3)
def test_every_mutant_is_refused_or_equal(name: str) -> None:
    assert xe.course.check(name, answer_of(name, source_of(name)))
    alive = set()
    for mutant in mutants(source_of(name)):
        try:
            answer = answer_of(name, mutant.source)
        except Exception:  # the cell itself fails: a student would see that
            continue
        with xe.options.set(timeout=1):
            if xe.course.check(name, answer).passed:
                alive.add(mutant.what)
    assert alive == EQUAL.get(name, set())
