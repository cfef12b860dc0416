"""Random programs of error-prone kinds on evaluator, guarded native code and PTX emulator.

Arrays of native code lie between guard pages.

`python -m tests.properties.kinds --programs N --seed S` runs as many as one likes, `--show SEED`
one of them.
"""

from __future__ import annotations

import importlib.util

import pytest

from tests.properties.kind_programs import KINDS, module_text, program
from tests.properties.kinds import BACKENDS, Tally, beside_xla, check_programs, check_range
from xla_explorer.hlo.text import parse_hlo
from xla_explorer.hlo.verifier import verify

FIRST = 1_000_000  # seeds of the tests; those below are of long runs


def _check(first: int, last: int) -> None:
    tally = Tally()
    check_range(first, last, tally, 8, BACKENDS)
    assert tally.programs == last - first
    assert not tally.findings, tally.report()


@pytest.mark.usefixtures("runs_here")
@pytest.mark.parametrize("kind", KINDS)
def test_programs_of_a_kind(kind: str) -> None:
    programs = [program(FIRST + number, number, kind) for number in range(6)]
    found = check_programs(programs)
    assert {backend for backend, _ in found} == set(BACKENDS)
    assert not [outcome for _, outcome in found if outcome.is_finding]


@pytest.mark.long
@pytest.mark.usefixtures("runs_here")
@pytest.mark.parametrize("first", range(FIRST + 1000, FIRST + 3400, 800))
def test_programs_of_all_kinds(first: int) -> None:
    _check(first, first + 800)


@pytest.mark.slow
@pytest.mark.usefixtures("runs_here")
@pytest.mark.parametrize("first", range(FIRST + 10_000, FIRST + 50_000, 10_000))
def test_many_programs_of_all_kinds(first: int) -> None:
    _check(first, first + 10_000)


@pytest.mark.long
@pytest.mark.jax
@pytest.mark.skipif(
    importlib.util.find_spec("jaxlib") is None, reason="jaxlib is not installed (extra `jax`)"
)
def test_programs_have_the_values_of_xla() -> None:
    tally = Tally()
    beside_xla(FIRST, 200, tally)
    assert not tally.findings, tally.report()
    assert tally.counts["xla equal"] > 80, tally.report()


@pytest.mark.long
@pytest.mark.jax
@pytest.mark.skipif(
    importlib.util.find_spec("jaxlib") is None, reason="jaxlib is not installed (extra `jax`)"
)
@pytest.mark.parametrize(
    ("seed", "name"), [(7002081, "gather-of-empty-slices"), (7002325, "rounding")]
)
def test_differences_of_xla_have_a_class(seed: int, name: str) -> None:
    tally = Tally()
    beside_xla(seed, 1, tally)
    assert not tally.findings and list(tally.classes) == [name]


def test_a_seed_names_a_program_that_is_well_formed() -> None:
    for seed in range(60):
        one, two = (module_text([program(seed)], seed) for _ in range(2))
        assert one == two
        verify(parse_hlo(one))
