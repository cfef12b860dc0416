"""No importable name of the package is an answer; published files hold no solutions."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import xla_explorer as xe
from xla_explorer import course

ROOT = Path(__file__).resolve().parents[3]


def _importable() -> Iterator[tuple[str, Any]]:
    """Every callable, text and table of the course's modules, private ones too, each once."""
    seen: set[int] = set()
    for found in pkgutil.iter_modules(course.__path__):
        module = importlib.import_module(f"{course.__name__}.{found.name}")
        for name, value in vars(module).items():
            own = getattr(value, "__module__", module.__name__) == module.__name__
            if (
                id(value) not in seen
                and own
                and not name.startswith("__")
                and (callable(value) or isinstance(value, str | dict))
            ):
                seen.add(id(value))
                yield f"{found.name}.{name}", value


def _forms(value: Any) -> Iterator[Any]:
    """Yield the value and, of a table, the form that a student could make in one line."""
    yield value
    if isinstance(value, dict):
        yield {k: (v[0] if isinstance(v, tuple) and v else v) for k, v in value.items()}


_NOT_ANSWERS = {
    "registry.exercise",
    "registry.check",
    "native_run.main",
}  # they would declare, check, or read what is typed


def _tried(name: str, modules: tuple[str, ...]) -> int:
    wants = (
        str
        if name in ("nb09.sum", "nb10.warp", "nb10.block")
        else dict
        if name in ("nb01.quiz", "nb05.unsafe", "nb11.place")
        else None
    )
    checkers = {e.checker for e in xe.course.exercises().values()}
    tried = 0
    with xe.options.set(timeout=2):
        for what, value in _importable():
            if what in _NOT_ANSWERS or inspect.isclass(value) or not what.startswith(modules):
                continue
            if (
                not isinstance(value, wants)
                if wants is not None
                else not callable(value) or value in checkers
            ):
                continue
            for answer in _forms(value):
                tried += 1
                try:
                    result = xe.course.check(name, answer)
                except (
                    Exception
                ):  # it is no answer at all: nothing that a student would take for one
                    continue
                assert not result.passed, f"{what} solves {name}"
    return tried


@pytest.mark.parametrize("name", sorted(xe.course.exercises()))
@pytest.mark.sampled(10)
def test_nothing_in_the_module_of_an_exercise_is_its_answer(name: str) -> None:
    beside = {
        "nb07": ("fusion_plan.",),
        "nb13": ("stack_machine.",),
        "nb10": ("ptx_run.",),
        "nb09": ("native_run.", "nb10"),
    }
    _tried(name, (name.partition(".")[0], *beside.get(name[:4], ())))


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", sorted(xe.course.exercises()))
def test_nothing_importable_is_an_answer(name: str) -> None:
    assert _tried(name, ("",))


def test_the_solutions_are_in_neither_wheel_nor_sdist() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"][
        "build"
    ]
    sdist = build["targets"]["sdist"]
    left_out = [*build.get("exclude", ()), *sdist.get("exclude", ())]
    assert any(pattern.strip("/") == "tests/notebooks/solutions" for pattern in left_out)
    package = Path(sys.modules["xla_explorer"].__file__ or "").parent
    assert not list(package.rglob("solutions"))


def test_every_notebook_is_in_the_wheel() -> None:
    included = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
        "hatch"
    ]["build"]["targets"]["wheel"]["force-include"]
    assert {name for name in included if name.endswith(".ipynb")} == {
        f"notebooks/{path.name}" for path in (ROOT / "notebooks").glob("*.ipynb")
    }
