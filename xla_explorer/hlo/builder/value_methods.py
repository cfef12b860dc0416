"""Methods that values take over from their builder and vice versa, with signature and help."""

from __future__ import annotations

import functools
import inspect
import keyword
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from xla_explorer.hlo.opcodes import OPCODES

if TYPE_CHECKING:
    from xla_explorer.hlo.builder.builder import HloBuilder
    from xla_explorer.hlo.builder.value import HloValue

# Opcodes of tokens, tuples and asynchronous state, which are not methods of an array.
_OF_NO_ARRAY: Final = frozenset(
    {"after-all", "async-update", "domain", "get-tuple-element", "infeed", "recv"}
)


@functools.cache
def opcode_methods(of_array: bool = False) -> frozenset[str]:
    """Return names of the builder's methods for opcodes with operands.

    of_array: only if the first operand can be an array.
    """
    specs = [spec for spec in OPCODES.values() if spec.arity != 0]
    if of_array:
        specs = [
            spec
            for spec in specs
            if spec.name not in _OF_NO_ARRAY and not spec.name.endswith("-done")
        ]
    names = [spec.name.replace("-", "_") for spec in specs]
    return frozenset([f"{name}_" if keyword.iskeyword(name) else name for name in names])


def method_of_value(value: HloValue, name: str) -> Callable[..., HloValue]:
    """Return the builder's method of an opcode with the value as first operand."""
    of_builder = getattr(value.builder, name)

    def method(*operands: Any, **attributes: Any) -> Any:
        applied = operands[:1] if operands and callable(operands[0]) else ()
        return of_builder(*applied, value, *operands[len(applied) :], **attributes)

    return _described(method, name, *_help_of_value(getattr(type(value.builder), name)))


def method_of_builder(
    builder: HloBuilder, name: str, of_value: Callable[..., Any]
) -> Callable[..., HloValue]:
    """Return the value's method with the value, or a number, as first argument."""

    def method(value: Any, *others: Any, **options: Any) -> Any:
        return getattr(builder.value(value), name)(*others, **options)

    return _described(method, name, *_help_of_builder(of_value, name))


@functools.cache
def _help_of_value(of_builder: Callable[..., Any]) -> tuple[str, inspect.Signature]:
    parameters = list(inspect.signature(of_builder).parameters.values())[1:]
    if parameters[0].kind is not inspect.Parameter.VAR_POSITIONAL:
        del parameters[0]  # the value
    return of_builder.__doc__ or "", inspect.Signature(parameters)


@functools.cache
def _help_of_builder(of_value: Callable[..., Any], name: str) -> tuple[str, inspect.Signature]:
    value, *others = inspect.signature(of_value).parameters.values()
    doc = f"`b.{name}(x, ...)` is `x.{name}(...)`. {inspect.getdoc(of_value) or ''}"
    return doc, inspect.Signature([value.replace(name="value"), *others])


def _described(
    method: Callable[..., Any], name: str, doc: str, signature: inspect.Signature
) -> Callable[..., HloValue]:
    method.__name__ = method.__qualname__ = name
    method.__doc__ = doc
    method.__signature__ = signature  # type: ignore[attr-defined]
    return method
