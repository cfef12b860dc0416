"""Generated methods of `HloBuilder` for opcodes without a handwritten one.

`b.dynamic_slice(x, starts, sizes=(1, 4))`, `b.sort(x, dimensions=1, to_apply=lambda a, b: a < b)`,
`b.while_(state, condition=..., body=...)`. Elementwise opcodes broadcast like the operators.
Opcodes without a shape rule take `shape=`.
"""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable
from typing import Any

from xla_explorer.hlo.builder.broadcasting import matched_operands
from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.examples import EXAMPLES
from xla_explorer.hlo.builder.shape_arguments import shape_of
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.opcodes import OPCODES, OpcodeSpec


def method_name(opcode_name: str) -> str:
    """Return the method's name: `dynamic_slice` for `dynamic-slice`, `and_` for `and`."""
    name = opcode_name.replace("-", "_")
    return f"{name}_" if keyword.iskeyword(name) else name


def _flat(operands: tuple[Any, ...]) -> list[Any]:
    flat: list[Any] = []
    for operand in operands:
        if isinstance(operand, (tuple, list)) and any(
            isinstance(part, HloValue) for part in operand
        ):
            flat += operand
        else:
            flat.append(operand)
    return flat


def _method(spec: OpcodeSpec) -> Callable[..., HloValue]:
    # These operands agree in type and shape, so numbers and smaller operands can be broadcast.
    matches = spec.elementwise and spec.arity == 2 and spec.name not in ("stochastic-convert",)

    def method(self: HloBuilder, *operands: Any, **attributes: Any) -> HloValue:
        shape = attributes.pop("shape", None)
        flat = _flat(operands)
        if (
            spec.called
            and flat
            and (callable(flat[0]) or isinstance(flat[0], HloComputation))
            and not isinstance(flat[0], HloValue)
        ):
            attributes[spec.called[0]] = flat.pop(0)
        if matches and len(flat) == 2:
            flat = list(matched_operands(self, spec.name, tuple(flat)))
        elif spec.name in ("pad", "reduce", "clamp") and any(
            isinstance(operand, HloValue) for operand in flat
        ):
            kind = next(operand for operand in flat if isinstance(operand, HloValue)).dtype
            if spec.name != "reduce" or len(flat) == 2:
                flat = [self.value(operand, kind) for operand in flat]
        return self.emit(
            spec.name, flat, attributes, shape=shape_of(shape) if shape is not None else None
        )

    method.__name__ = method_name(spec.name)
    method.__qualname__ = f"HloBuilder.{method.__name__}"
    own = "".join(
        [
            f"\n{name}: " + ("required. " if name in spec.required else "optional. ")
            for name in spec.attributes
        ]
    )
    called = "".join([f"\n{role}: a Python function or a computation." for role in spec.called])
    stated = "\nshape: of the result, required." if spec.shape_rule is None else ""
    example = f"\n\n    {EXAMPLES[spec.name]}\n" if spec.name in EXAMPLES else ""
    method.__doc__ = (
        f"HLO `{spec.name}`. {spec.summary}{example}{own}{called}{stated}\nSource: {spec.source}."
    )
    # The signature is for help and completion; the row defines the accepted arguments.
    parameters = [
        inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY),
        inspect.Parameter("operands", inspect.Parameter.VAR_POSITIONAL),
    ]
    names = [*spec.attributes, *spec.called, *(["shape"] if spec.shape_rule is None else [])]
    parameters += [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if name in spec.required else None,
        )
        for name in names
    ]
    method.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return method


def add_opcode_methods() -> None:
    """Add a method to `HloBuilder` for each row without one."""
    for spec in OPCODES.values():
        name = method_name(spec.name)
        if name not in vars(HloBuilder):
            setattr(HloBuilder, name, _method(spec))
