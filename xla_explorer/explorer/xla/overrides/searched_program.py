"""The program of a search, compiled by XLA under changes in a child process."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from xla_explorer.backends.xla.child import XlaChild
from xla_explorer.backends.xla.source_names import SourceNames
from xla_explorer.explorer.xla.forms import rewritten
from xla_explorer.explorer.xla.overrides.search_worker import Pair, Program
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text.module_header import parse_input_output_alias

_WORKER = "xla_explorer.explorer.xla.overrides.search_worker"


class Change(NamedTuple):
    """A point of the search.

    flags: of XLA. forbid, fuse: pairs of instructions to split and to join. forms: names of
    rewritten forms of the program, in their order.
    """

    flags: tuple[tuple[str, Any], ...] = ()
    forbid: tuple[Pair, ...] = ()
    fuse: tuple[Pair, ...] = ()
    forms: tuple[str, ...] = ()

    def with_step(self, word: str, step: Any) -> Change:
        """Return the point with one more flag, pair or form."""
        if word == "flag":
            others = tuple([one for one in self.flags if one[0] != step[0]])
            return self._replace(flags=(*others, step))
        if word == "form":
            return self._replace(forms=(*self.forms, step))
        return self._replace(**{word: (*getattr(self, word), step)})


class Compiled(NamedTuple):
    """XLA's executable of a change. number: its name in the child process."""

    number: int
    change: Change


class SearchedProgram:
    """A module with its leaves in a child process, compiled by XLA under changes.

    A child that crashed is replaced: it compiles again what is measured next. stablehlo: the
    program as JAX wrote it, which XLA compiles in place of the module if no form is wanted. Then
    the names of XLA's instructions are those that the user's own compile has.
    """

    def __init__(
        self, module: HloModule, leaves: Sequence[Any], stablehlo: bytes | None = None
    ) -> None:
        self.module, self.name = module.clone(), module.name
        self.is_donated = bool(module.attributes.get("input_output_alias"))
        self.module.attributes.pop("input_output_alias", None)  # each run takes the same arguments
        kinds = [p.shape.element_type.dtype for p in module.entry.parameters()]
        self._leaves = [
            np.asarray(leaf).astype(kind, copy=False)
            for leaf, kind in zip(leaves, kinds, strict=True)
        ]
        self._stablehlo = stablehlo
        self._numbers = itertools.count()
        self._child: XlaChild | None = None
        self._known: set[int] = set()
        self.modules: list[bytes] = []
        """What XLA compiled last, as protos."""

    def compiled(self, change: Change, expected: tuple[str, Pair] | None = None) -> Compiled:
        """Return XLA's executable. XlaExplorerError if the expected request was not granted."""
        made = Compiled(next(self._numbers), change)
        refused = self._build(made, expected)
        if refused:
            raise XlaExplorerError(refused, "")
        return made

    def values(self, made: Compiled) -> list[np.ndarray[Any, Any]]:
        """Return the results of a run."""
        return list(self._answer("values", made))

    def seconds(self, made: Compiled, runs: int) -> float:
        """Return the time of a run, of so many one after another."""
        return float(self._answer("seconds", made, runs))

    def close(self) -> None:
        """End the child process."""
        if self._child is not None:
            self._child.close()

    def _answer(self, request: str, made: Compiled, *more: Any) -> Any:
        self._running()
        if made.number not in self._known:  # of a child that crashed
            self._build(made, None)
        return self._running().ask(request, made.number, *more)

    def _running(self) -> XlaChild:
        """Return a child that has the arguments."""
        if self._child is None or not self._child.alive:
            self._child, self._known = XlaChild(worker=_WORKER, dumped=None), set()
            self._child.ask("place", self._leaves)
        return self._child

    def _build(self, made: Compiled, expected: tuple[str, Pair] | None) -> str:
        child = self._running()
        program, parameters = self._written(made.change)
        changes = {word: getattr(made.change, word) for word in ("flags", "forbid", "fuse")}
        refused, self.modules = child.ask(
            "build", made.number, program, parameters, changes, expected
        )
        self._known.add(made.number)
        return str(refused)

    def _written(self, change: Change) -> tuple[Program, list[tuple[str, bool]]]:
        """Return the program in its forms; each parameter's type, and whether it is donated."""
        module = self.module
        for form in change.forms:
            made = rewritten(form, module)
            if made is None:
                raise XlaExplorerError(f"the program has nothing that {form} changes", "")
            module = made
        aliases = str(module.attributes.get("input_output_alias") or "{}")
        donated = {one.parameter_number for one in parse_input_output_alias(aliases)}
        parameters = [
            (str(p.shape.element_type.dtype), p.parameter_number in donated)
            for p in module.entry.parameters()
        ]
        if self._stablehlo is not None and not change.forms:
            return self._stablehlo, parameters
        return SourceNames(module).request[1:], parameters
