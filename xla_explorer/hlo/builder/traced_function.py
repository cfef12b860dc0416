"""`@hlo`: a Python function over builder values that is also a module.

@hlo
def softmax(x: f32[128, 256]):
    e = (x - x.max(axis=-1, keepdims=True)).exp()
    return e / e.sum(axis=-1, keepdims=True)

softmax.module            # the HloModule
softmax(array)            # evaluated by the numpy reference
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from functools import update_wrapper
from typing import Any, overload

from xla_explorer.hlo.builder.builder import HloBuilder
from xla_explorer.hlo.builder.errors import HloBuilderError
from xla_explorer.hlo.builder.shape_arguments import shape_of, type_of
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.evaluator import evaluate
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.primitive_type import PrimitiveType
from xla_explorer.hlo.shape import Shape


class TracedFunction:
    """A function decorated by `@hlo`.

    Callable on arrays and builder values, and a source of modules.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        shapes: tuple[Shape | None, ...],
        names: tuple[str, ...],
    ) -> None:
        self.function = function
        self.name = name
        self.shapes = shapes
        self.parameter_names = names
        self._modules: dict[tuple[Shape, ...], HloModule] = {}
        update_wrapper(self, function)

    @property
    def module(self) -> HloModule:
        """The module for the annotated shapes; HloBuilderError if a parameter has no annotation."""
        return self.specialize(*self.shapes)

    def specialize(self, *shapes: Any) -> HloModule:
        """Return the module for other shapes (f32[...], or arrays).

        Each combination is traced once.
        """
        missing = [
            name for name, shape in zip(self.parameter_names, shapes, strict=False) if shape is None
        ]
        if missing or len(shapes) != len(self.parameter_names):
            raise HloBuilderError(
                f"{self.name} has no shape for {', '.join(missing) or 'every parameter'}",
                "annotate the parameter, for instance x: xe.f32[128, 256]",
            )
        key = tuple([shape_of(shape) for shape in shapes])
        module = self._modules.get(key)
        if module is None:
            builder = HloBuilder(self.name)
            values = [
                builder.parameter(shape, name)
                for shape, name in zip(key, self.parameter_names, strict=True)
            ]
            returned = self.function(*values)
            if returned is None:
                raise HloBuilderError(
                    f"{self.name} returns nothing", "return a value, or a tuple of values"
                )
            module = self._modules[key] = builder.build(returned)
        return module

    def __call__(self, *arguments: Any) -> Any:
        """Evaluate the module on arrays, or add its operations to a builder.

        Arrays are evaluated by the numpy reference.
        """
        if any(isinstance(argument, HloValue) for argument in arguments):
            return self.function(*arguments)
        shapes = [
            shape if shape is not None else _shape_of_array(argument)
            for shape, argument in zip(self.shapes, arguments, strict=False)
        ]
        if len(arguments) != len(self.shapes):
            raise TypeError(f"{self.name} takes {len(self.shapes)} arguments, got {len(arguments)}")
        return evaluate(self.specialize(*shapes), *arguments)

    def __repr__(self) -> str:
        shapes = ", ".join(
            [
                f"{name}: {shape.text_without_layout if shape is not None else '?'}"
                for name, shape in zip(self.parameter_names, self.shapes, strict=True)
            ]
        )
        return f"<hlo function {self.name}({shapes})>"


def _shape_of_array(argument: Any) -> Shape:
    import numpy as np

    return shape_of(np.asarray(argument))


def _annotated_shape(annotation: Any) -> Shape | None:
    if annotation is inspect.Parameter.empty:
        return None
    if isinstance(annotation, (Shape, PrimitiveType, str)):
        return shape_of(annotation)
    return shape_of(type_of(annotation))


@overload
def hlo(function: Callable[..., Any], /) -> TracedFunction: ...
@overload
def hlo(*, name: str | None = None) -> Callable[[Callable[..., Any]], TracedFunction]: ...


def hlo(function: Callable[..., Any] | None = None, /, *, name: str | None = None) -> Any:
    """Decorate a function of builder values whose parameters have shapes (`x: f32[128, 256]`).

    name: of the module; by default the function's. Annotations may be text (`from __future__ import
    annotations`); the names are those at the function's definition.
    """
    if function is None:
        return lambda inner: _trace(inner, name, sys._getframe(1).f_locals)
    if not inspect.isfunction(function) and not inspect.ismethod(function):
        raise HloBuilderError(
            "xe.hlo: the argument must be a function, got an object of type "
            f"{type(function).__name__}",
            "write @xe.hlo above a function whose parameters have shapes: x: xe.f32[4]",
        )
    return _trace(function, name, sys._getframe(1).f_locals)


def _trace(function: Callable[..., Any], name: str | None, local_names: Any) -> TracedFunction:
    annotations = inspect.get_annotations(function, eval_str=True, locals=dict(local_names))
    parameters = inspect.signature(function).parameters
    empty = inspect.Parameter.empty
    return TracedFunction(
        function,
        name or function.__name__,
        tuple([_annotated_shape(annotations.get(parameter, empty)) for parameter in parameters]),
        tuple(parameters),
    )
