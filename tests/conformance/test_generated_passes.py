"""Our passes beside XLA's own on generated modules: the judge is right, and a sample agrees.

`notebooks/generated_passes.md` has the measured table. `generated.agreement` measures it again.
"""

from __future__ import annotations

import datetime
import importlib.util

import pytest

from tests.conformance.generated.agreement import KINDS, judge, reduced, tally
from tests.conformance.generated.programs import BIAS, program
from tests.conformance.generated.xla_pass import MAIN, Record
from xla_explorer.hlo.verifier import verify

needs_jaxlib = pytest.mark.skipif(
    importlib.util.find_spec("jaxlib") is None, reason="XLA's own pass needs jaxlib"
)
_TWICE = """HloModule m, entry_computation_layout={(f32[4]{0})->f32[4]{0}}
ENTRY e {
  x = f32[4]{0} parameter(0)
  a = f32[4]{0} exponential(x)
  b = f32[4]{0} exponential(x)
  ROOT r = f32[4]{0} add(a, b)
}"""
_ONCE = _TWICE.replace("  b = f32[4]{0} exponential(x)\n", "").replace("add(a, b)", "add(a, a)")
_DOUBLED = _ONCE.replace(
    "  ROOT r = f32[4]{0} add(a, a)",
    "  two = f32[] constant(2)\n  t = f32[4]{0} broadcast(two), dimensions={}\n"
    "  ROOT r = f32[4]{0} multiply(a, t)",
)
# The least mean share that agrees; the page lists the disagreements.
LEAST = 0.9


@pytest.mark.parametrize(
    ("name", "before", "after", "kind"),
    [
        ("cse", _TWICE, _ONCE, "same"),
        ("cse", _TWICE, None, "further"),
        ("dce", _TWICE, None, "same"),
        ("dce", _TWICE, _DOUBLED, "missed"),
        ("cse", _TWICE, _ONCE.replace("add(a, a)", "multiply(a, a)"), "value"),
        ("cse", _TWICE, _ONCE.replace("add(a, a)", "add(a, x)"), "value"),
    ],
)
def test_each_kind_of_difference_is_told_apart(
    name: str, before: str, after: str | None, kind: str
) -> None:
    assert judge(name, Record(MAIN, before, after))[0] == kind
    assert kind in KINDS


def test_generators_write_modules_that_verify() -> None:
    for number, name in enumerate(list(BIAS)[::8]):
        verify(program(name, number))


@pytest.mark.slow
@pytest.mark.jax
@needs_jaxlib
def test_a_sample_of_today_agrees_with_xla() -> None:
    first = 10**6 + datetime.date.today().toordinal() * 100
    shares: dict[str, float] = {}
    values: list[str] = []
    for name in BIAS:
        found = tally(name, first, 8)
        values += [f"{name} seed {one.seed}" for one in found.judged if one.kind == "value"]
        if found.judged:
            shares[name] = found.agreed / len(found.judged)
    assert not values
    assert sum(shares.values()) / len(shares) >= LEAST


@pytest.mark.slow
@pytest.mark.jax
@needs_jaxlib
def test_a_disagreement_is_reduced_to_its_cause() -> None:
    """`iota`s of one shape in two orders are merged here only, by `iota-or-sharding`."""
    found = tally("cse", 33, 1)
    assert {one.kind for one in found.judged} == {"further"}
    small = reduced("cse", found.judged[0].text)
    assert small.instruction_count() <= 8
