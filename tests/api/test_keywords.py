"""Public calls with keywords reject an unknown one and suggest the nearest valid one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.explorer.trace import Passes, Trace

TEXT = "HloModule m\n\nENTRY e {\n  x = f32[8] parameter(0)\n  ROOT r = f32[8] exponential(x)\n}\n"
# call -> (a keyword with a mistake, the one that is meant, the call)
CALLS: dict[str, tuple[str, str, Callable[..., Any]]] = {
    "xe.compile": ("pases", "passes", lambda **k: xe.compile(TEXT, backend="interpreter", **k)),
    "xe.compare.programs": (
        "thread",
        "threads",
        lambda **k: xe.compare.programs([TEXT], ("cpu", "interpreter"), **k),
    ),
    "xe.evaluate": (
        "max_element",
        "max_elements",
        lambda **k: xe.evaluate(TEXT, np.ones(8, np.float32), **k),
    ),
    "xe.explore": (
        "complet",
        "complete",
        lambda **k: xe.explore(xe.compile(TEXT, backend="interpreter"), **k),
    ),
    "xe.hlo": ("nam", "name", lambda **k: xe.hlo(**k)),
    "xe.jit": ("jurnal", "journal", lambda **k: xe.jit(abs, **k)),
    "xe.optimize": ("keep_error", "keep_errors", lambda **k: xe.optimize(TEXT, **k)),
    "Session.gpu": (
        "architectur",
        "architecture",
        lambda **k: xe.compile(TEXT, backend="interpreter").gpu(**k),
    ),
    "Session.ptx": ("maths", "math", lambda **k: xe.compile(TEXT, backend="interpreter").ptx(**k)),
    "Trace.explore": ("color", "colour", lambda **k: xe.optimize(TEXT, "dce").explore(**k)),
}
# Their keywords are those of the user's own function.
OF_THE_FUNCTION = {"xe.from_jax"}


def _public() -> Iterator[tuple[str, Any]]:
    for name in xe.__all__:
        yield f"xe.{name}", getattr(xe, name)
    for kind, cls in (
        ("xe.compare", type(xe.compare)),
        ("Session", xe.Session),
        ("Trace", Trace),
        ("Passes", Passes),
    ):
        yield from (
            (f"{kind}.{name}", getattr(cls, name)) for name in dir(cls) if not name.startswith("_")
        )


def test_every_call_with_further_keywords_is_in_the_table() -> None:
    handing_on = {
        name
        for name, thing in _public()
        if callable(thing) and not inspect.isclass(thing)
        and any(p.kind is p.VAR_KEYWORD for p in inspect.signature(thing).parameters.values())
    }  # fmt: skip
    assert handing_on == {*CALLS, *OF_THE_FUNCTION}


@pytest.mark.parametrize("name", CALLS)
def test_the_nearest_keyword_is_named(name: str) -> None:
    wrong, meant, call = CALLS[name]
    for given, hint in ((wrong, f"did you mean '{meant}'"), ("zzzzzz", "hint: ")):
        with pytest.raises(xe.errors.UnknownOptionError, match=f"option '{given}'") as caught:
            call(**{given: 1})
        assert hint in str(caught.value)
