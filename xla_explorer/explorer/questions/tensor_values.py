"""The tensor of an instruction: its value, its statistics, its difference to the original."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from xla_explorer.explorer.display import Blocks, Code, Report, Table, cell_text
from xla_explorer.explorer.sessions.arguments import random_arguments
from xla_explorer.explorer.sessions.isolation import as_one_run
from xla_explorer.explorer.sessions.passes import RecordedPass, RecordedPasses
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.evaluator import Evaluator, evaluate, flatten_value
from xla_explorer.hlo.module import HloModule

BINS = 24
MOST_FLOPS_ON_A_CLICK = 3e8
"""Operations of a module that a click in the explorer evaluates at most."""


class Bin(NamedTuple):
    """The number of values from low up to high."""

    low: float
    high: float
    number: int


class TensorValue(Report):
    """The value of an instruction.

    Attributes
    ----------
    array : numpy.ndarray
        The value; of a tuple its first leaf.
    reference : numpy.ndarray, optional
        The value of its origin in the module as written; None without one of the same shape.
    arguments : sequence
        The arguments of the run.
    inputs : str
        `given` or `random`.
    """

    def __init__(self, name: str, step: int, array: Any, reference: Any, inputs: str) -> None:
        self.name, self.step, self.array, self.reference, self.inputs = (
            name,
            step,
            np.asarray(array),
            reference,
            inputs,
        )

    @property
    def _numbers(self) -> Any:
        """The finite values as f64; absolute values of complex ones."""
        values = np.abs(self.array) if np.iscomplexobj(self.array) else self.array
        numbers = np.asarray(values).astype(np.float64).ravel()
        return numbers[np.isfinite(numbers)]

    def facts(self) -> dict[str, Any]:
        """Return shape, type, least, largest and mean value, counts of NaN, infinities and zeros.

        With a reference also the largest difference to it.
        """
        wide = self.array.astype(np.complex128 if np.iscomplexobj(self.array) else np.float64)
        numbers = self._numbers
        found: dict[str, Any] = {
            "shape": list(self.array.shape),
            "type": str(self.array.dtype),
            "elements": int(self.array.size),
        }
        if numbers.size:
            found.update(least=float(numbers.min()), largest=float(numbers.max()))
            found.update(mean=float(numbers.mean()), deviation=float(numbers.std()))
        found.update(
            nan=int(np.isnan(wide).sum()),
            infinite=int(np.isinf(wide).sum()),
            zeros=int((self.array == 0).sum()),
        )
        if self.reference is not None:
            with np.errstate(all="ignore"):
                difference = np.abs(wide - np.asarray(self.reference).astype(wide.dtype))
            both = np.isnan(wide) & np.isnan(np.asarray(self.reference).astype(wide.dtype))
            found["largest difference to the module as written"] = float(
                np.max(np.where(both, 0.0, difference), initial=0.0)
            )
        return found

    def histogram(self) -> list[Bin]:
        """Return the finite values in bins of equal width."""
        numbers = self._numbers
        if not numbers.size:
            return []
        counts, edges = np.histogram(numbers, bins=BINS if numbers.min() < numbers.max() else 1)
        return [
            Bin(float(low), float(high), int(n))
            for low, high, n in zip(edges[:-1], edges[1:], counts, strict=True)
        ]

    def first(self) -> str:
        """Return the first and last values as text."""
        return str(
            np.array2string(self.array, threshold=60, edgeitems=3, precision=5, max_line_width=100)
        )

    def headline(self) -> str:
        """Return the name of the value, its step and its arguments."""
        where = "as written" if self.step == 0 else f"after pass {self.step}"
        return f"%{self.name} {where}, on {self.inputs} arguments, by the evaluator"

    def blocks(self) -> Blocks:
        """Yield facts, histogram and values."""
        yield Table(
            ["what", "value"], [(key, cell_text(value)) for key, value in self.facts().items()]
        )
        most = max([row.number for row in self.histogram()], default=0)
        if most:
            yield Code(
                "histogram",
                "\n".join(
                    [
                        f"{b.low:>12.4g} {'█' * round(40 * b.number / most)} {b.number}"
                        for b in self.histogram()
                    ]
                ),
            )
        yield Code("values", self.first())

    def records(self) -> Table:
        """Return a row for each bin of the histogram."""
        return Table(["low", "high", "count"], [tuple(row) for row in self.histogram()])


def _recorded(module: HloModule, arguments: Sequence[Any], ids: Sequence[int]) -> dict[int, Any]:
    evaluator = Evaluator(record=True)
    evaluate(module, *arguments, evaluator=evaluator)
    return {key: evaluator.values[key] for key in ids if key in evaluator.values}


@as_one_run
def tensor_value(
    passes: RecordedPasses[RecordedPass], key: int, step: int, arrays: Sequence[Any]
) -> TensorValue:
    """Evaluate an instruction after a pass: see `Passes.value`."""
    recorded = passes[step]
    there = {i.id: i for i in recorded.module.instructions()}
    found = next(
        (
            k
            for k in (key, *passes.lineage.successors(key), *passes.lineage.origins(key))
            if k in there
        ),
        None,
    )
    if found is None:
        raise XlaExplorerError(
            f"%{passes.lineage.records[key].name} is not in the module {recorded.title}",
            "name a step in which it is: value(name, step=0)",
        )
    written = passes[0].module
    arguments = list(arrays) or list(random_arguments(written))
    values = _recorded(recorded.module, arguments, [found])
    if found not in values:
        raise XlaExplorerError(
            f"%{there[found].name} did not run",
            "choose an instruction outside of reducers and of branches not taken",
        )
    array = flatten_value(values[found])[0]
    reference = None
    if recorded.number:
        origins = [
            k for k in passes.lineage.origins(found) if k in {i.id for i in written.instructions()}
        ]
        before = _recorded(written, arguments, origins)
        leaves = [flatten_value(before[k])[0] for k in origins if k in before]
        reference = next((leaf for leaf in leaves if np.shape(leaf) == np.shape(array)), None)
    return TensorValue(
        there[found].name,
        recorded.number,
        array,
        reference,
        "the given" if len(arrays) else "random",
    )
