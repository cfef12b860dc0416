"""The public names with their signatures, as a text to compare: `python -m tests.api.public_api` writes it anew."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import xla_explorer as xe
import xla_explorer.hlo
from xla_explorer.explorer.code.llvm_views import Llvm

SNAPSHOT = Path(__file__).with_name("public_api.txt")


def lines() -> Iterator[str]:
    for name in sorted(xe.__all__):
        if not name.startswith("__"):
            yield f"xe.{name}{_signature(getattr(xe, name))}"
    for name in ("fusions", "programs", "signatures", "structure", "text"):
        yield f"xe.compare.{name}{_signature(getattr(xe.compare, name))}"
    for name in sorted(xla_explorer.hlo.__all__):
        yield f"xe.hlo.{name}{_signature(getattr(xe.hlo, name))}"
    for name in sorted(n for n in dir(xe.charts) if getattr(getattr(xe.charts, n), "__module__", "") == xe.charts.__name__ and n[0] != "_"):
        yield f"xe.charts.{name}{_signature(getattr(xe.charts, name))}"
    for name in sorted(xe.xla.__all__):
        yield f"xe.xla.{name}{_signature(getattr(xe.xla, name))}"
    yield from (f"xe.errors.{name}" for name in xe.errors.__all__)
    yield from _members("Session", xe.Session)
    trace = xe.optimize("HloModule m\nENTRY e { ROOT x = f32[] parameter(0) }", "dce")
    yield from _members("session.llvm", Llvm)
    yield from _members("session.passes", type(trace.passes))
    yield from _members("session.passes[k]", type(trace.passes[0]))
    yield from _members("trace", type(trace))


def _members(title: str, cls: type) -> Iterator[str]:
    for name in sorted(n for n in dir(cls) if not n.startswith("_")):
        member: Any = inspect.getattr_static(cls, name)
        if not hasattr(object, name) and not hasattr(tuple, name):
            yield f"{title}.{name}{_signature(member) if callable(member) else ''}"


def _signature(thing: Any) -> str:
    if not callable(thing) or inspect.isclass(thing):
        return ""
    return str(inspect.signature(thing)).replace("'", "")


if __name__ == "__main__":
    SNAPSHOT.write_text("\n".join(lines()) + "\n", encoding="utf-8")
