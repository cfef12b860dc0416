"""Directives that say how an array goes to memory and comes from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from xla_explorer.compiler.codegen.nest.directives.base import Directive
from xla_explorer.compiler.codegen.nest.ir import Load, LoopNest, walk
from xla_explorer.foundation.reason import Predicate, Reason, refuse


@dataclass(frozen=True)
class Stream(Directive):
    """A result is written past the caches by non-temporal stores, whole registers of it where they begin as registers do.

    An ordinary store reads its cache line first, so an array moves twice. It pays where the result would leave the caches anyway.
    """

    name: ClassVar[str] = "stream"
    axis: str  # the name of the array, as the journal's subject

    def checks(self) -> tuple[Predicate, ...]:
        """See `Directive.checks`."""
        return self.is_a_result, self.is_not_read

    def applied(self, nest: LoopNest) -> LoopNest:
        """See `Directive.applied`."""
        return replace(nest, arrays=tuple([replace(a, streamed=True) if a.name == self.axis else a for a in nest.arrays]))

    def facts(self, nest: LoopNest) -> dict[str, Any]:
        """See `Directive.facts`."""
        array = nest.array(self.axis)
        return {"bytes": array.shape.byte_size if array is not None else 0}

    def is_a_result(self, nest: LoopNest) -> Reason | None:
        """The array is one of the kernel's results."""
        results = [a.name for a in nest.arrays if a.written]
        if self.axis in results:
            return None
        return refuse("not-a-result", f"{self.axis} must be a result of @{nest.name}: {', '.join(results)}")

    def is_not_read(self, nest: LoopNest) -> Reason | None:
        """The kernel does not read what it writes."""
        if all(s.array != self.axis for s, _ in walk(nest.body) if isinstance(s, Load)):
            return None
        return refuse("result-is-read", f"@{nest.name} reads %{self.axis} again, which is then no longer in a cache")
