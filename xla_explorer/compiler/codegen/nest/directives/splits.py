"""`split`: an axis becomes blocks of steps, and `tail` says how the last block ends.

Exo names the tails of `divide_loop` in the same way; `overlap` is Halide's
`TailStrategy::ShiftInwards`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, get_args

from xla_explorer.compiler.codegen.nest import transformations
from xla_explorer.compiler.codegen.nest.accesses import LINE_BYTES
from xla_explorer.compiler.codegen.nest.directives.base import MOST_LANES, Directive
from xla_explorer.compiler.codegen.nest.directives.index_set_splitting import CutLoop
from xla_explorer.compiler.codegen.nest.ir import Body, For, Iota, Load, Loop, LoopNest, Store, walk
from xla_explorer.compiler.codegen.nest.rewriting import with_axes_replaced, with_loop_replaced
from xla_explorer.foundation.reason import Reason, first_refusal, refuse
from xla_explorer.hlo.analysis.indexing import Axis, RuntimeValue, Substitution, index
from xla_explorer.hlo.primitive_type import S64

Tail = Literal["guard", "cut", "overlap", "shift"]
TAILS: tuple[str, ...] = get_args(Tail)


@dataclass(frozen=True)
class Split(Directive):
    """The axis becomes blocks <axis>o of <axis>i steps.

    Attributes
    ----------
    factor : int
        The steps of a block.
    tail : {"guard", "cut", "overlap", "shift"}
        The remainder, if the factor does not divide the extent. `guard`: a condition skips the
        steps behind the end. `cut`: whole blocks <axis>m are split, and a loop <axis>r has the
        rest. `overlap`: the last block begins earlier, so that some steps run twice. `shift`:
        blocks follow the cache lines of an array at any address, so that the first block is
        shifted too.
    lines_of : str
        The array of `shift`.
    """

    name: ClassVar[str] = "split"
    bare: ClassVar[str] = "lines_of"
    check_names = (
        "axis_exists",
        "axis_is_serial",
        "factor_fits",
        "steps_are_repeatable",
        "rest_is_separable",
        "names_are_free",
    )
    axis: str
    factor: int
    tail: Tail = "guard"
    lines_of: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tail not in TAILS:
            raise TypeError(f"the tail must be one of {', '.join(TAILS)}, got {self.tail!r}")
        if (self.tail == "shift") != bool(self.lines_of):
            raise TypeError("the tail `shift`, and no other, must name an array")

    def changed(self, nest: LoopNest) -> LoopNest:
        """Implement `Directive.changed`."""
        if self.repeats_steps(nest):
            return self._with_overlap(nest)
        name, cut = self.axis, self._cut(nest)
        if cut is not None:
            nest, name = cut.changed(nest), cut.new_axes(nest)[0]
        return transformations.split(nest, name, self.factor)

    def new_axes(self, nest: LoopNest) -> tuple[str, ...]:
        """Return the outer and the inner axis, then the rest."""
        cut = self._cut(nest)
        whole, *rest = cut.new_axes(nest) if cut is not None else (self.axis,)
        return (f"{whole}o", f"{whole}i", *rest)

    def facts(self, nest: LoopNest) -> dict[str, Any]:
        """Implement `Directive.facts`."""
        extent = nest.axes()[self.axis].axis.extent
        return {"extent": extent, "factor": self.factor, "rest": extent % self.factor}

    def repeats_steps(self, nest: LoopNest) -> bool:
        """Return True if blocks overlap, so that some steps run twice."""
        uneven = nest.axes()[self.axis].axis.extent % self.factor != 0
        return self.tail == "shift" or (self.tail == "overlap" and uneven)

    def steps_are_repeatable(self, nest: LoopNest) -> Reason | None:
        """Refuse if a step that runs twice could give another value.

        It could if it combines, or reads what the loop stores.
        """
        if not self.repeats_steps(nest) or is_repeatable(nest, self.axis):
            return None
        return refuse(
            "not-repeatable",
            f"steps of {self.axis} cannot be repeated: they combine, or read what is stored",
        )

    def factor_fits(self, nest: LoopNest) -> Reason | None:
        """Refuse a block larger than the axis, or other than a cache line of `lines_of`.

        A guarded block may be as large as the lanes of a register.
        """
        extent, array = nest.axes()[self.axis].axis.extent, nest.array(self.lines_of)
        most = max(extent, MOST_LANES) if self.tail == "guard" else extent
        if not 1 <= self.factor <= most:
            message = (
                f"the factor must be from 1 to {most}, {self.axis} has {extent} steps, got "
                f"{self.factor}"
            )
            return refuse("factor-too-large", message, extent=extent, factor=self.factor)
        if self.lines_of and (
            array is None or array.shape.element_type.bytes * self.factor != LINE_BYTES
        ):
            return refuse(
                "not-whole-lines",
                f"a block of {self.factor} elements of %{self.lines_of} must be a cache line of "
                f"{LINE_BYTES} bytes",
            )
        return None

    def rest_is_separable(self, nest: LoopNest) -> Reason | None:
        """Refuse as `CutLoop` if the rest gets its own loop."""
        cut = self._cut(nest)
        return None if cut is None else first_refusal(cut.checks(), nest)

    def _cut(self, nest: LoopNest) -> CutLoop | None:
        """Return the directive that separates the rest, if the tail is `cut`."""
        extent = nest.axes()[self.axis].axis.extent
        rest = extent % self.factor
        return CutLoop(self.axis, extent - rest) if self.tail == "cut" and rest else None

    def _with_overlap(self, nest: LoopNest) -> LoopNest:
        """Return the nest with blocks whose last one ends with the axis."""
        axis, number = nest.axes()[self.axis].axis, nest.fresh_id()
        blocks = -(-axis.extent // self.factor) + (1 if self.lines_of else 0)
        outer, inner = Axis(f"{self.axis}o", blocks), Axis(f"{self.axis}i", self.factor)
        begin = Iota(number, S64, index(outer) * self.factor, lines_of=self.lines_of)
        clamped = index(RuntimeValue(f"%{number}", (begin.index,), 0, axis.extent - self.factor))
        values: Substitution = {axis: clamped + index(inner)}

        def with_begin(body: Body) -> Body:
            """Compute a block's first step in the innermost loop of a perfect nest."""
            if len(body) == 1 and isinstance(only := body[0], For):
                return (replace(only, body=with_begin(only.body)),)
            return (begin, *body)

        def change(s: Loop) -> Loop:
            return For(outer, (For(inner, with_begin(with_axes_replaced(s.body, values))),))

        return with_loop_replaced(nest, self.axis, change)


def is_repeatable(nest: LoopNest, axis: str) -> bool:
    """Return True if a step of a loop that runs twice stores the same values twice."""
    loop = nest.loop(axis)
    if not isinstance(loop, For) or loop.ordered or loop.guards:
        return False
    stored = {s.array for s, _ in walk(loop.body) if isinstance(s, Store)}
    return stored.isdisjoint([s.array for s, _ in nest.statements() if isinstance(s, Load)])
