"""JAX's primitive harnesses on a plugin: each is lowered here and compared with the evaluator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from xla_explorer.backends.testing.conformance import ConformanceRow, Failure
from xla_explorer.backends.testing.outcome import STATUSES
from xla_explorer.backends.xla.plugin_file import PluginRunner
from xla_explorer.explorer.xla.conforming.smallest import smallest_failure
from xla_explorer.explorer.xla.flag_sweeps import given
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.optional import import_optional
from xla_explorer.hlo.module import HloModule

Array = np.ndarray[Any, Any]


class HarnessRow(NamedTuple):
    """One harness on a plugin.

    Attributes
    ----------
    harness : str
        Its name.
    status : str
        ok, refused, wrong or crashed.
    message : str
        Why it is not ok.
    """

    harness: str
    status: str
    message: str


class Harnesses(NamedTuple):
    """Rows, smallest failing programs (one for each opcode), and what was not run."""

    rows: list[HarnessRow]
    failures: list[Failure]
    left_out: int

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of rows of each status."""
        found = Counter([row.status for row in self.rows])
        return {status: found[status] for status in STATUSES}

    def summary(self) -> str:
        """Return the counts in a line."""
        counts = [f"{number} {status}" for status, number in self.counts.items() if number]
        left = f"; {self.left_out} left out: the evaluator has no values of them"
        return (
            f"{len(self.rows)} of JAX's harnesses: {', '.join(counts)}"
            f"{left if self.left_out else ''}"
        )


def run_harnesses(runner: PluginRunner, most: int, minimised: int = 10) -> Harnesses:
    """Run about `most` of JAX's harnesses, evenly spread, on a plugin.

    A harness with a custom call is left out: its values are defined by a library. `minimised` is
    the most failures that are made smaller, one for each opcode.

    Raises
    ------
    MissingExtraError
        jax or absl-py is not installed.
    """
    rows: list[HarnessRow] = []
    failures: dict[str, Failure] = {}
    left_out = 0
    for name, module, arrays in _programs(most):
        try:
            outcome = runner.run_on(module, arrays)[0]
        except XlaExplorerError:  # of the evaluator
            left_out += 1
            continue
        rows.append(HarnessRow(name, outcome.status, outcome.message))
        if outcome.status in ("wrong", "crashed") and len(failures) < minimised:
            row = ConformanceRow(name, "", *outcome)
            failure = smallest_failure(runner, row, module, arrays)
            failures.setdefault(failure.row.opcode, failure)
    return Harnesses(rows, list(failures.values()), left_out)


def _programs(most: int) -> Iterator[tuple[str, HloModule, list[Array]]]:
    """Yield (name, module, arguments) of harnesses that can be lowered for JAX's CPU."""
    jax = import_optional("jax", "jax")
    import_optional("absl", "jax")
    with jax.enable_x64(True):
        np.random.seed(0)  # jax's file draws an array at its import
        from jax._src.internal_test_util import test_harnesses

        every = sorted(test_harnesses.all_harnesses, key=lambda one: one.fullname)
        for harness in every[:: max(1, len(every) // most)]:
            lowered = _lowered(harness)
            if lowered is not None:
                yield harness.fullname, *lowered


def _lowered(harness: Any) -> tuple[HloModule, list[Array]] | None:
    try:
        arguments: Sequence[Any] = harness.dyn_args_maker(np.random.RandomState(0))
        module, leaves = given(harness.dyn_fun, tuple(arguments))
    except Exception:  # not of this JAX or not for the CPU: the harness says nothing of the plugin
        return None
    if any(i.opcode.name == "custom-call" for i in module.instructions()):
        return None
    return module, [np.asarray(leaf) for leaf in leaves]
