"""The public names with their signatures as text; `python -m tests.api.public_api` rewrites it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import xla_explorer as xe
import xla_explorer.hlo
from xla_explorer.explorer.code.llvm.llvm_views import Llvm

SNAPSHOT = Path(__file__).with_name("public_api.txt")


def lines() -> Iterator[str]:
    """Yield a line for each public name: its spelling and its parameters."""
    for name, thing in names():
        yield f"{name}{_signature(thing)}"


def names() -> Iterator[tuple[str, Any]]:
    """Yield each public name, spelled as users write it, with its object or static class member."""
    for name in sorted(xe.__all__):
        if not name.startswith("__"):
            yield f"xe.{name}", getattr(xe, name)
    for name in ("fusions", "programs", "signatures", "structure", "text"):
        yield f"xe.compare.{name}", getattr(xe.compare, name)
    for name in sorted(xla_explorer.hlo.__all__):
        yield f"xe.hlo.{name}", getattr(xe.hlo, name)
    for name in sorted(
        n
        for n in dir(xe.charts)
        if getattr(getattr(xe.charts, n), "__module__", "") == xe.charts.__name__ and n[0] != "_"
    ):
        yield f"xe.charts.{name}", getattr(xe.charts, name)
    for name in sorted(xe.xla.__all__):
        yield f"xe.xla.{name}", getattr(xe.xla, name)
    yield from ((f"xe.errors.{name}", getattr(xe.errors, name)) for name in xe.errors.__all__)
    for title, cls in classes().items():
        for name in sorted(n for n in dir(cls) if not n.startswith("_")):
            member = inspect.getattr_static(cls, name)
            # Attributes of instances are not listed, those made on first use among them.
            is_attribute = isinstance(member, cached_property)
            if not is_attribute and not hasattr(object, name) and not hasattr(tuple, name):
                yield f"{title}.{name}", member


def classes() -> dict[str, type]:
    """Return the classes with public members, by the prefix that users write."""
    trace = xe.optimize("HloModule m\nENTRY e { ROOT x = f32[] parameter(0) }", "dce")
    return {
        "Session": xe.Session,
        "session.llvm": Llvm,
        "session.passes": type(trace.passes),
        "session.passes[k]": type(trace.passes[0]),
        "trace": type(trace),
    }


def _signature(thing: Any) -> str:
    if not callable(thing) or inspect.isclass(thing):
        return ""
    return str(inspect.signature(thing)).replace("'", "")


if __name__ == "__main__":
    SNAPSHOT.write_text("\n".join(lines()) + "\n", encoding="utf-8")
