"""Loops, branches and calls from Python functions of values, with automatic tuples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from xla_explorer.hlo.builder.errors import HloBuilderError
from xla_explorer.hlo.builder.region import check_count
from xla_explorer.hlo.primitive_type import PRED, S32

if TYPE_CHECKING:
    from xla_explorer.hlo.builder.builder import HloBuilder
    from xla_explorer.hlo.builder.value import HloValue

Function = Callable[..., Any]


class StructuredControl:
    """The methods of `HloBuilder` that take Python functions as regions."""

    def while_loop(self: HloBuilder, condition: Function, body: Function, init: Any) -> HloValue:  # type: ignore[misc]
        """Apply `body` while `condition` holds; the result has the shape of `init`.

        init: one value, or a tuple or list of values. With several, both functions take the
        elements as arguments, and `body` and the loop return tuples: `i, x = b.while_loop(lambda i,
        x: i < 10, lambda i, x: (i + 1, x * 2), (0, x))`.
        """
        state = self.tuple(*init) if isinstance(init, (tuple, list)) else self.value(init)
        return self.emit("while", (state,), {"condition": condition, "body": body})

    def cond(  # type: ignore[misc]
        self: HloBuilder, predicate: Any, on_true: Function, on_false: Function, *operands: Any
    ) -> HloValue:
        """Apply one of two functions to the operands, by a pred scalar.

        Both return the same shapes.
        """
        predicate = self.value(predicate)
        if not predicate.shape.is_scalar or predicate.shape.element_type is not PRED:
            raise HloBuilderError(
                f"cond: the predicate must be pred[], it is {predicate.shape.text_without_layout}",
                "use b.where for a choice element by element",
            )
        return self.switch(predicate, (on_true, on_false), *operands)

    def switch(  # type: ignore[misc]
        self: HloBuilder, selector: Any, branches: Sequence[Function], *operands: Any
    ) -> HloValue:
        """Apply one of several functions to the operands, by an s32 scalar.

        An index out of range selects the last function.
        """
        selector = self.value(selector, S32)
        packed = self.value(operands[0]) if len(operands) == 1 else self.tuple(*operands)
        return self.emit(
            "conditional", (selector, *[packed] * len(branches)), {"branch_computations": branches}
        )

    def fori_loop(self: HloBuilder, lower: Any, upper: Any, body: Function, init: Any) -> HloValue:  # type: ignore[misc]
        """Apply `body(i, state)` for i in range(lower, upper) and return the last state."""
        several = isinstance(init, (tuple, list))
        first = list(init) if several else [init]

        def step(i: Any, stop: Any, *state: Any) -> Any:
            check_count(body, (i, *state), "body", "def body(i, *state): ..." if several else "")
            returned = body(i, *state)
            return (i + 1, stop, *(returned if several else (returned,)))

        loop = self.while_loop(
            lambda i, stop, *state: i < stop,
            step,
            [self.value(lower, S32), self.value(upper, S32), *first],
        )
        return self.tuple(*[loop[k + 2] for k in range(len(first))]) if several else loop[2]
