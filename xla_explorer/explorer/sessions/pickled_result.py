"""Pickled compilations: all that was recorded travels, native code is made again at first use."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from xla_explorer.backends.interfaces import CompileOptions, CompileResult
from xla_explorer.backends.registry import platform
from xla_explorer.explorer.sessions.isolation.limited_calls import bounds_of
from xla_explorer.explorer.sessions.isolation.outcome import compiled
from xla_explorer.explorer.sessions.isolation.settings import Isolation, has_own_process
from xla_explorer.explorer.sessions.passes import RecordedPasses
from xla_explorer.foundation.limits import under
from xla_explorer.hlo.module import HloModule


class PickledResult:
    """The part of a compilation that does not pickle: the backend's result, with its code."""

    source: HloModule
    backend: str
    options: CompileOptions
    passes: RecordedPasses[Any]
    isolation: Isolation | None

    @cached_property
    def result(self) -> CompileResult | None:
        """The backend's result; None after an earlier failure.

        An unpickled compilation makes it again from its optimised module, on first use.
        """
        trace = self.passes.record
        if has_own_process(self.backend):
            with under(bounds_of(self.isolation)):
                made = compiled(self.source, self.backend, self.options, None).result
        elif self.isolation is not None:
            # Start-up time: a compile in this process needs no messages to a child.
            from xla_explorer.explorer.sessions.isolation.program import restored_result

            made = restored_result(
                self.source.name, self.backend, trace, self.options, self.isolation
            )
        else:
            compiler = platform(self.backend).compiler()
            made = compiler.run_backend(trace.without_steps(), self.options)
        return None if made is None else made._replace(trace=trace)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without code and caches; a result without code stays."""
        state = dict(self.__dict__)
        result: CompileResult | None = state.get("result")
        if result is not None and (result.executable or result.program) is not None:
            del state["result"]
        state.pop("_source", None)
        return state
