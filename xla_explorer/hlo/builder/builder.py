"""Builder of modules, operation by operation, from Python values with operators.

Every opcode has a method under its own name (`b.dynamic_slice`, `b.while_`), generated from its
row. Methods with a better Python form are written here and in `structured_control.py`.

Examples
--------
    b = HloBuilder("softmax")
    x = b.parameter(f32[128, 256], "x")
    e = (x - x.max(axis=-1, keepdims=True)).exp()
    module = b.build(e / e.sum(axis=-1, keepdims=True))
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from xla_explorer.foundation.keywords import explains_arguments
from xla_explorer.foundation.suggestions import nearest
from xla_explorer.hlo.attributes import NO_ATTRIBUTES, Attributes, attributes_of
from xla_explorer.hlo.builder.attribute_arguments import split_arguments
from xla_explorer.hlo.builder.axes import from_the_end, sizes_of
from xla_explorer.hlo.builder.broadcasting import (
    broadcast_value,
    element_type_for,
    is_number,
    matched_operands,
)
from xla_explorer.hlo.builder.errors import HloBuilderError
from xla_explorer.hlo.builder.examples import EXAMPLES
from xla_explorer.hlo.builder.region import region, region_parameters, region_result
from xla_explorer.hlo.builder.shape_arguments import shape_of, type_of
from xla_explorer.hlo.builder.source_location import caller_metadata
from xla_explorer.hlo.builder.structured_control import StructuredControl
from xla_explorer.hlo.builder.value import HloValue
from xla_explorer.hlo.builder.value_methods import method_of_builder
from xla_explorer.hlo.computation import HloComputation, infer_shape
from xla_explorer.hlo.literal import Literal, literal_from_array
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import CONSTANT, GET_TUPLE_ELEMENT, OpcodeSpec, opcode
from xla_explorer.hlo.primitive_type import S32, PrimitiveType
from xla_explorer.hlo.shape import Shape, ShapeError, array_shape
from xla_explorer.hlo.verifier import verify
from xla_explorer.hlo.verifier.constraints import reasons_against

# `HloBuilder.tuple` shadows the builtin inside the class.
_tuple: type[tuple[Any, ...]] = builtins.tuple
Values = tuple[HloValue, ...]
Computations = tuple[HloComputation, ...]


class HloBuilder(StructuredControl):
    """Builder of one module; `nested` builders share it and write the called computations.

    Parameters
    ----------
    name
        The module's name.
    locations
        Instructions record the caller's file and line as metadata.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> b = xe.HloBuilder("decay", locations=False)
    >>> x = b.parameter(xe.f32[4], "x")
    >>> module = b.build((-x).exp())
    >>> [i.opcode.name for i in module.instructions()]
    ['parameter', 'negate', 'exponential']
    """

    module: HloModule
    computation: HloComputation

    _scopes: list[str]  # shared with nested builders: a loop body belongs to the scope of its loop

    @explains_arguments
    def __init__(self, name: str, *, locations: bool = True) -> None:
        self.module = HloModule(name)
        self.computation = self.module.add_computation("main", entry=True)
        self.locations = locations
        self._scopes = []
        self._parameters = 0
        self._built = False

    def __getattr__(self, name: str) -> Callable[..., HloValue]:
        """Return a value's method as a function: `b.exp(x)` is `x.exp()`.

        A name that is neither an opcode nor a method of the builder is looked up in `HloValue`.
        """
        if not name.startswith("_") and callable(of_value := getattr(HloValue, name, None)):
            return method_of_builder(self, name, of_value)
        near = nearest(
            name, [n for n in (*dir(type(self)), *dir(HloValue)) if not n.startswith("_")], 3
        )
        raise AttributeError(
            f"HloBuilder has no method {name}" + (f"; near: {', '.join(near)}" if near else "")
        )

    def nested(self, name: str) -> HloBuilder:
        """Return a builder of another computation of the same module."""
        inner = HloBuilder.__new__(HloBuilder)
        inner.module, inner.computation = self.module, self.module.add_computation(name)
        inner.locations, inner._parameters, inner._built = self.locations, 0, False
        inner._scopes = self._scopes
        return inner

    @contextmanager
    def scope(self, name: str) -> Iterator[HloBuilder]:
        """Name the instructions built inside: `op_name="layer1/attention/dot"`, outer scope first.

        with b.scope("layer1"):
            y = (x @ w + bias).maximum(0)
        """
        if not name:
            raise HloBuilderError("a scope needs a name", 'write with b.scope("layer1"): ...')
        self._scopes.append(name)
        try:
            yield self
        finally:
            self._scopes.pop()

    def _metadata(self, opcode_name: str) -> str | None:
        if not self.locations and not self._scopes:
            return None
        op_name = "/".join((*self._scopes, opcode_name)) if self._scopes else ""
        return caller_metadata(op_name, location=self.locations)

    def parameter(self, shape: Any, name: str | None = None) -> HloValue:
        """Add the next parameter of the computation.

        shape: `f32[2, 3]`, its text, an element type for a scalar, or an array.
        """
        i = self.computation.add_parameter(self._parameters, shape_of(shape), name)
        i.metadata = self._metadata(i.name)
        self._parameters += 1
        return HloValue(self, i)

    def constant(self, value: Any, element_type: Any = None) -> HloValue:
        """Add a constant from numbers, arrays, (nested) lists or a Literal.

        A Python float is f32, an int s32, a bool pred.
        """
        if isinstance(value, Literal):
            literal = value
        else:
            kind = (
                type_of(element_type) if element_type is not None else element_type_for(value, None)
            )
            array = np.asarray(value)
            literal = literal_from_array(array.astype(kind.dtype), array_shape(kind, array.shape))
        return self._new(CONSTANT, (), shape=literal.shape, payload=literal)

    def value(self, given: Any, element_type: PrimitiveType | None = None) -> HloValue:
        """Return the value itself, a constant from a number, or a tuple of these."""
        if isinstance(given, HloValue):
            return given
        if isinstance(given, _tuple) or (
            isinstance(given, list) and any(isinstance(part, (HloValue, _tuple)) for part in given)
        ):
            return self.tuple(*given)
        if is_number(given):
            return self.constant(given, element_type_for(given, element_type))
        raise HloBuilderError(
            f"{given!r} is a {type(given).__name__}, no value of the builder and no number"
        )

    def iota(self, shape: Any, dimension: int = 0) -> HloValue:
        """Add the numbers 0, 1, 2 ... along one dimension of the given shape."""
        return self.emit("iota", (), {"iota_dimension": dimension}, shape=shape_of(shape))

    def arange(self, count: int, element_type: Any = S32) -> HloValue:
        """Add the vector 0 ... count - 1."""
        return self.iota(array_shape(type_of(element_type), (count,)))

    def broadcast(
        self, value: Any, dimensions: Sequence[int] | Shape, mapping: Sequence[int] | None = None
    ) -> HloValue:
        """Broadcast to the given sizes.

        Operand dimension i becomes mapping[i], by default the last ones.
        """
        value = self.value(value)
        sizes = dimensions.dimensions if isinstance(dimensions, Shape) else tuple(dimensions)
        if mapping is None:
            mapping = range(len(sizes) - value.shape.rank, len(sizes))
        return self.emit(
            "broadcast",
            (value,),
            {"dimensions": tuple(mapping)},
            shape=array_shape(value.shape.element_type, sizes),
        )

    def broadcast_to(self, value: Any, dimensions: Sequence[int]) -> HloValue:
        """Broadcast as numpy's broadcast_to: size-1 and missing leading dimensions are repeated."""
        value, wanted = self.value(value), _tuple(sizes_of("broadcast_to", dimensions))
        shape = value.shape
        fits = (
            min(wanted, default=0) >= 0
            and shape.rank <= len(wanted)
            and all(a in (1, b) for a, b in zip(shape.dimensions[::-1], wanted[::-1], strict=False))
        )
        if not fits:
            raise HloBuilderError(
                f"broadcast_to: {shape.text_without_layout} does not broadcast to {list(wanted)}",
                "sizes must be equal or 1, counted from the last dimension",
            )
        return broadcast_value(value, wanted)

    def reshape(self, value: Any, *dimensions: Any) -> HloValue:
        """Reshape to other dimensions in the same order of elements; one size may be -1."""
        source = self.value(value)
        sizes = sizes_of("reshape", dimensions[0] if len(dimensions) == 1 else dimensions)
        if -1 in sizes:
            rest = int(np.prod([size for size in sizes if size != -1], dtype=np.int64))
            if sizes.count(-1) > 1 or not rest or source.shape.element_count % rest:
                text, count = source.shape.text_without_layout, source.shape.element_count
                raise HloBuilderError(
                    f"reshape: {text} has {count} elements, which leaves no size for -1 in {sizes}",
                    "write one -1 among sizes whose product divides the number of elements",
                )
            sizes[sizes.index(-1)] = source.shape.element_count // rest
        if tuple(sizes) == source.shape.dimensions:
            return source
        return self.emit(
            "reshape", (source,), {}, shape=array_shape(source.shape.element_type, sizes)
        )

    def convert(self, value: Any, element_type: Any) -> HloValue:
        """Convert the values to another element type."""
        source, kind = self.value(value), type_of(element_type)
        if kind is source.shape.element_type:
            return source
        return self.emit("convert", (source,), {}, shape=source.shape.base.with_element_type(kind))

    def bitcast_convert(self, value: Any, element_type: Any) -> HloValue:
        """Reinterpret the bits as another element type.

        If the widths differ, the last dimension is added or removed.
        """
        value, kind = self.value(value), type_of(element_type)
        old, sizes = value.shape.element_type, value.shape.dimensions
        if kind.bits < old.bits:
            sizes = (*sizes, old.bits // kind.bits)
        elif kind.bits > old.bits:
            sizes = sizes[:-1]
        return self.emit("bitcast-convert", (value,), {}, shape=array_shape(kind, sizes))

    def reduce_precision(self, value: Any, exponent_bits: int, mantissa_bits: int) -> HloValue:
        """Round to a float of the given bits, in the same element type."""
        return self.emit(
            "reduce-precision",
            (value,),
            {"exponent_bits": exponent_bits, "mantissa_bits": mantissa_bits},
        )

    def tuple(self, *values: Any) -> HloValue:
        """Pack values into one tuple."""
        flat = values[0] if len(values) == 1 and isinstance(values[0], (_tuple, list)) else values
        return self.emit("tuple", _tuple(flat), {})

    def get_tuple_element(self, value: HloValue, index: int) -> HloValue:
        """Return element `index` of a tuple."""
        return self.emit(GET_TUPLE_ELEMENT.name, (value,), {"index": index})

    def outfeed(
        self, value: Any, token: HloValue, *, outfeed_config: str | None = None
    ) -> HloValue:
        """Send a value to the host and return a token."""
        value = self.value(value)
        given: dict[str, Any] = {"outfeed_shape": value.shape.text}
        return self.emit(
            "outfeed",
            (value, token),
            given | ({} if outfeed_config is None else {"outfeed_config": outfeed_config}),
        )

    def compare(self, a: Any, b: Any, direction: str, type: str | None = None) -> HloValue:
        """Compare two values to pred.

        direction: EQ NE LT LE GT GE. type: FLOAT TOTALORDER SIGNED UNSIGNED, by default from the
        operands.
        """
        return self.emit(
            "compare",
            _tuple(matched_operands(self, "compare", (a, b))),
            {"direction": direction} | ({"type": type} if type else {}),
        )

    def select(self, predicate: Any, on_true: Any, on_false: Any) -> HloValue:
        """Select `on_true` if the predicate holds, else `on_false`, element by element."""
        predicate = self.value(predicate)
        if predicate.shape.is_scalar:
            return self.emit(
                "select", (predicate, *matched_operands(self, "select", (on_true, on_false))), {}
            )
        return self.emit(
            "select",
            _tuple(matched_operands(self, "select", (predicate, on_true, on_false), skip_type=0)),
            {},
        )

    def where(self, predicate: Any, on_true: Any, on_false: Any) -> HloValue:
        """Select as numpy's where (see `select`)."""
        return self.select(predicate, on_true, on_false)

    def build(self, *roots: Any) -> HloModule:
        """Return the verified module whose entry returns the given value, or a tuple of several.

        Computations are ordered callees first. HloVerifyError for an invalid module. The builder
        cannot be used again.
        """
        if self._built:
            raise HloBuilderError(
                "the builder has built its module already", "make a new HloBuilder"
            )
        if not roots:
            raise HloBuilderError(
                "build needs the value that the module returns", "write b.build(value)"
            )
        several = len(roots) > 1 or isinstance(roots[0], (_tuple, list))
        root = self.tuple(*roots) if several else self.value(roots[0])
        self.check_own("build", root)
        self.computation.set_root(root.instruction)
        module = self.module
        for computation in module.computations.values():
            # Remove reshapes of `keepdims=True` that broadcasting has skipped.
            for i in [
                i
                for i in computation.instructions.values()
                if i.opcode.name == "reshape" and not i.users and not i.is_root
            ]:
                computation.remove(i)
        module.computations = {c.name: c for c in module.post_order_computations()}
        verify(module)
        self._built = True
        return module

    def emit(
        self,
        name: str,
        operands: Iterable[Any],
        given: dict[str, Any],
        *,
        shape: Shape | None = None,
    ) -> HloValue:
        """Add an instruction from values, numbers, attributes and functions.

        Its constraints are checked.
        """
        spec = opcode(name)
        values = _tuple([self.value(operand) for operand in operands])
        raw_attributes, functions = split_arguments(spec, given)
        whose = (
            shape
            if shape is not None and name in ("broadcast", "iota")
            else values[0].shape
            if values
            else None
        )
        if whose is not None and whose.is_array:
            raw_attributes = from_the_end(raw_attributes, whose.rank)
        return self._new(
            spec,
            values,
            attributes_of(raw_attributes),
            self._called(spec, values, functions),
            shape,
        )

    def _called(self, spec: OpcodeSpec, values: Values, functions: dict[str, Any]) -> Computations:
        shapes = [value.shape for value in values]
        called: list[HloComputation] = []
        for role in spec.called:
            if role not in functions:
                if spec.name != "custom-call":
                    raise HloBuilderError(
                        f"{spec.name} needs {role}=", "give a Python function or a computation"
                    )
                continue
            given = functions[role]
            if role == "branch_computations":
                for number, branch in enumerate(given):
                    own = shapes[number + 1 : number + 2]
                    called.append(region(self, branch, own, f"branch_{number}", unpack=True))
            elif role == "called_computations" and isinstance(given, (_tuple, list)):
                called += [region(self, function, shapes, role) for function in given]
            else:
                called.append(
                    region(
                        self,
                        given,
                        region_parameters(role, spec.name, shapes),
                        role,
                        unpack=spec.name == "while",
                        result=region_result(role, spec.name, shapes),
                    )
                )
        return _tuple(called)

    def check_own(self, name: str, value: HloValue) -> None:
        """Raise HloBuilderError for a value of another computation or module."""
        if value.builder.computation is not self.computation:
            if value.builder.module is not self.module:
                raise HloBuilderError(
                    f"{name}: %{value.instruction.name} belongs to the builder of module "
                    f"{value.builder.module.name}"
                )
            raise HloBuilderError(
                f"{name}: %{value.instruction.name} is in %{value.builder.computation.name}, "
                "this computation is "
                f"%{self.computation.name}",
                _pass_it_on(value.builder.computation, self.computation),
            )

    def _new(
        self,
        spec: OpcodeSpec,
        values: Values,
        attributes: Attributes = NO_ATTRIBUTES,
        called: Computations = (),
        shape: Shape | None = None,
        payload: Any = None,
    ) -> HloValue:
        for value in values:
            self.check_own(spec.name, value)
        shapes = _tuple([value.shape for value in values])
        if shape is None:
            if spec.shape_rule is None:
                raise HloBuilderError(
                    f"{spec.name}: operands do not determine the result",
                    "give shape=, for instance shape=xe.f32[4]",
                )
            try:
                shape = infer_shape(spec, shapes, attributes, called)
            except ShapeError as error:
                raise HloBuilderError(str(error), _hint(spec)) from None
        i = self.computation.add(
            spec,
            shape,
            [value.instruction for value in values],
            attributes,
            called=called,
            payload=payload,
            metadata=self._metadata(spec.name),
        )
        self._check(i)
        return HloValue(self, i)

    def _check(self, i: Any) -> None:
        broken = reasons_against(i)
        if broken:
            self.computation.remove(i)
            raise HloBuilderError(f"{i.opcode.name}: {broken[0][1]}", _hint(i.opcode))


def _pass_it_on(home: HloComputation, here: HloComputation) -> str:
    """Return the advice on passing a value to another computation: HLO has no closures."""
    if home.is_entry or not here.is_entry:
        return (
            "a function reads only its parameters: pass the value as one. In a loop put it into "
            "the state and return it unchanged, "
            "b.while_loop(condition, lambda i, y, x: (i + 1, y + x, x), (0, y, x)); pass it to "
            "b.cond as an operand"
        )
    return "return the value from the function that made it"


# Requirements that an example call does not show.
_MUST: dict[str, str] = {
    "while": (
        "body must return the next state, a value of the same shape and type for each of init, "
        "and condition a pred scalar"
    ),
    "conditional": "every branch must return values of the same shapes and types",
    "reshape": "the product of the sizes must stay; one size may be -1",
    "broadcast": (
        "each dimension of the operand must be one of the result, of the same size; "
        "x.broadcast_to(...) is numpy's"
    ),
}


def _hint(spec: OpcodeSpec) -> str:
    if spec.name in _MUST:
        return _MUST[spec.name]
    return (
        f"write for instance {EXAMPLES[spec.name]}"
        if spec.name in EXAMPLES
        else f"{spec.summary} ({spec.source})"
    )
