"""Scans as while loops over slices. Source: xla/hlo/transforms/expanders/scan_expander.cc."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.rewriting.op_expander_pass import OpExpanderPass, values_of
from xla_explorer.compiler.transforms.expanders.applying import apply_inline
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import S64


@register_pass("scan-expander")
@dataclasses.dataclass(frozen=True)
class ScanExpander(OpExpanderPass):
    """Replace a scan by a while loop that reads and writes one slice per iteration.

    Its state is a counter, the carried values, the inputs and the outputs. expand_associative:
    expand scans that are marked as associative, too.
    """

    name: ClassVar[str] = "scan_expander"
    opcodes: ClassVar[frozenset[str]] = frozenset(["scan"])
    expand_associative: bool = True

    def matches(self, i: HloInstruction) -> bool:
        """Return False for associative scans that another pass rewrites."""
        return self.expand_associative or not i.attributes.get("is_associative")

    def expand(self, b: HloBuilder, i: HloInstruction) -> HloValue:
        """Return a tuple of a while loop's results; without iterations, the initial values."""
        values = values_of(b, i)
        carries = int(i.attributes["num_carries"])
        inputs, starts = values[: len(values) - carries], values[len(values) - carries :]
        [along] = i.attributes["dimensions"]
        results = i.shape.tuple_shapes if i.shape.is_tuple else (i.shape,)
        shapes = results[: len(results) - carries]
        size = (inputs[0].shape if inputs else shapes[0]).dimensions[along]
        reverse = i.attributes.value("is_reverse")
        outputs = [b.broadcast(b.constant(0, s.element_type), s.dimensions, ()) for s in shapes]

        if not size:
            return _together(b, i, [*outputs, *starts])

        def step(at: HloValue, *state: HloValue) -> list[HloValue]:
            b = at.builder
            place = b.constant(size - 1, S64) - at if reverse else at

            def offsets(rank: int) -> list[HloValue]:
                return [place if d == along else b.constant(0, S64) for d in range(rank)]

            carried, given, written = (
                state[:carries],
                state[carries : carries + len(inputs)],
                state[carries + len(inputs) :],
            )
            slices = []
            for x in given:
                sizes = [1 if d == along else n for d, n in enumerate(x.shape.dimensions)]
                part = b.dynamic_slice(x, *offsets(x.ndim), sizes=sizes)
                slices.append(b.reshape(part, [n for d, n in enumerate(sizes) if d != along]))
            made = apply_inline(b, i.called[0], *slices, *carried)
            parts = (
                [made[k] for k in range(len(shapes) + carries)] if made.shape.is_tuple else [made]
            )
            kept = []
            for whole, part in zip(written, parts, strict=False):
                sizes = [1 if d == along else n for d, n in enumerate(whole.shape.dimensions)]
                kept.append(
                    b.dynamic_update_slice(whole, b.reshape(part, sizes), *offsets(whole.ndim))
                )
            return [at + 1, *parts[len(shapes) :], *given, *kept]

        first = [b.constant(0, S64), *starts, *inputs, *outputs]
        loop = b.while_loop(lambda at, *_: at < size, step, first)
        done = [loop[1 + carries + len(inputs) + k] for k in range(len(shapes))]
        return _together(b, i, [*done, *[loop[1 + k] for k in range(carries)]])


def _together(b: HloBuilder, i: HloInstruction, results: list[HloValue]) -> HloValue:
    """Return a tuple of the results, or a single result if the scan has no tuple."""
    return b.tuple(*results) if i.shape.is_tuple else results[0]
