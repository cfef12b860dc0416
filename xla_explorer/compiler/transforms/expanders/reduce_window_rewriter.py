"""Scans written as reduce-window, in linear instead of quadratic work; windows of vectors.

Source: xla/hlo/transforms/simplifiers/reduce_window_rewriter.cc.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, values_of
from xla_explorer.compiler.transforms.expanders.applying import apply_lifted, liftable
from xla_explorer.foundation.reason import Predicate, Reason, refuse, value_formatter
from xla_explorer.hlo.attributes import Window, WindowDimension
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.identity_element import identity_element
from xla_explorer.hlo.instruction import HloInstruction


def scanned_dimension(i: HloInstruction) -> tuple[int, bool] | None:
    """Return (dimension, from the end) if every result combines all elements up to its place."""
    found: tuple[int, bool] | None = None
    for d, w in enumerate(i.attributes["window"].dimensions):
        if w == WindowDimension(1):
            continue
        n = i.operands[0].shape.dimensions[d]
        plain = w.size == n and (w.stride, w.base_dilation, w.window_dilation) == (1, 1, 1)
        if found is not None or not plain or sorted((w.padding_low, w.padding_high)) != [0, n - 1]:
            return None
        found = (d, w.padding_low == 0)
    return found


def starts_from_identity(i: HloInstruction) -> Reason | None:
    """Require an initial value that is the identity: it enters once for each block."""
    root, init = i.called[0].root, i.operands[-1]
    name = root.opcode.name
    value = init.literal.scalar if init.opcode.name == "constant" else None
    kind = init.shape.element_type
    wanted = identity_element(name, kind)
    if (
        value is not None
        and wanted is not None
        and value == wanted
        and all(o.opcode.name == "parameter" for o in root.operands)
    ):
        return None
    return refuse(
        "initial-value-not-neutral",
        f"%{init.name} is not known to be the identity element of %{i.called[0].name}",
    )


@value_formatter(
    lambda i: f"initial value %{i.operands[-1].name} of {i.called[0].root.opcode.name}"
)
def matrix_starts_from_identity(i: HloInstruction) -> Reason | None:
    """Require `starts_from_identity` of a window of more than one dimension."""
    return None if i.operands[0].shape.rank == 1 else starts_from_identity(i)


@value_formatter(lambda i: f"combiner %{i.called[0].name}")
def matrix_is_liftable(i: HloInstruction) -> Reason | None:
    """Require an elementwise combiner of a window of more than one dimension."""
    return None if i.operands[0].shape.rank == 1 else liftable(i)


@register_pass()
@dataclasses.dataclass(frozen=True)
class ReduceWindowRewriter(OpExpanderPass):
    """Rewrite long scans: scan blocks of `base_length`, scan their totals, and combine both.

    Another window of a vector becomes one of a matrix with a single column.

    base_length: elements that may be scanned directly.
    """

    name: ClassVar[str] = "reduce-window-rewriter"
    opcodes: ClassVar[frozenset[str]] = frozenset(["reduce-window"])
    base_length: int = 16

    def matches(self, i: HloInstruction) -> bool:
        """Return True for a long scan of one operand, and for a window of vectors."""
        return i.operands[0].shape.rank == 1 or self._is_long(i)

    def legality(self) -> tuple[Predicate, ...]:
        """Return the checks of a scan that is no vector: XLA rewrites every vector."""
        return (matrix_starts_from_identity, matrix_is_liftable)

    def _is_long(self, i: HloInstruction) -> bool:
        found = scanned_dimension(i) if len(i.operands) == 2 else None
        return found is not None and i.shape.dimensions[found[0]] > self.base_length

    def _is_scanned(self, i: HloInstruction) -> bool:
        return self._is_long(i) and starts_from_identity(i) is None and liftable(i) is None

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue | None:
        """Return the scan, by levels of blocks until few elements remain, or the matrix's."""
        if not self._is_scanned(i):
            return self._as_matrix(b, i)
        x, init = values_of(b, i)
        found = scanned_dimension(i)
        return self.scan(b, x, init, i.called[0], *found) if found is not None else None

    def _as_matrix(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        values, count = values_of(b, i), len(i.operands) // 2
        columns = [b.reshape(x, (*x.shape.dimensions, 1)) for x in values[:count]]
        window = Window((*i.attributes["window"].dimensions, WindowDimension(1)))
        found = b.reduce_window(*columns, *values[count:], window=window, to_apply=i.called[0])
        if not i.shape.is_tuple:
            return b.reshape(found, i.shape.dimensions)
        parts = zip(range(count), i.shape.tuple_shapes, strict=True)
        return b.tuple(*[b.reshape(found[k], shape.dimensions) for k, shape in parts])

    def scan(
        self,
        b: HloBuilder,
        x: HloValue,
        init: HloValue,
        combine: HloComputation,
        d: int,
        backward: bool,
    ) -> HloValue:
        """Return the scan of x along dimension d."""
        sizes, base = x.shape.dimensions, self.base_length
        n, rank = sizes[d], x.ndim

        def direct(value: HloValue, along: int) -> HloValue:
            pad = value.shape.dimensions[along] - 1
            one = WindowDimension(pad + 1, 1, 0 if backward else pad, pad if backward else 0)
            window = Window(
                tuple([one if k == along else WindowDimension(1) for k in range(value.ndim)])
            )
            return b.reduce_window(value, init, window=window, to_apply=combine)

        if n <= base:
            return direct(x, d)
        blocks = -(-n // base)
        padding = [(0, blocks * base - n, 0) if k == d else (0, 0, 0) for k in range(rank)]
        padded = b.pad(x, init, padding=padding) if n % base else x
        split = b.reshape(padded, (*sizes[:d], blocks, base, *sizes[d + 1 :]))
        inner = direct(split, d + 1)
        edge = 0 if backward else base - 1
        total = b.slice(
            inner,
            slice=[
                (edge, edge + 1, 1) if k == d + 1 else (0, m, 1)
                for k, m in enumerate(inner.shape.dimensions)
            ],
        )
        before = self.scan(
            b, b.reshape(total, (*sizes[:d], blocks, *sizes[d + 1 :])), init, combine, d, backward
        )
        shift = (-1, 1, 0) if backward else (1, -1, 0)
        before = b.pad(before, init, padding=[shift if k == d else (0, 0, 0) for k in range(rank)])
        spread = b.broadcast(
            before, inner.shape.dimensions, [k if k <= d else k + 1 for k in range(rank)]
        )
        [whole] = apply_lifted(b, combine, [inner, spread] if backward else [spread, inner])
        flat = b.reshape(whole, (*sizes[:d], blocks * base, *sizes[d + 1 :]))
        return b.slice(flat, slice=[(0, m, 1) for m in sizes])
