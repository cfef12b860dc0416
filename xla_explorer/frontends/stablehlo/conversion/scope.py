"""One computation under construction: the values of MLIR names, and the emission of instructions.

Constants are emitted at first use, in the computation of the use. A region that reads a constant
from outside then needs no parameter for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from xla_explorer.frontends.stablehlo.attributes import Dictionary, Keyword, integers
from xla_explorer.frontends.stablehlo.conversion.sharding import sharding_of_results
from xla_explorer.frontends.stablehlo.dense import repeated_element
from xla_explorer.frontends.stablehlo.errors import StablehloError, scalar_constant
from xla_explorer.frontends.stablehlo.program import Operation, Region, Use
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.attributes.dictionary_text import read_frontend_attributes
from xla_explorer.hlo.builder import HloBuilderError
from xla_explorer.hlo.computation import HloComputation, infer_shape
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.literal import Literal, literal_from_array
from xla_explorer.hlo.opcodes import CONSTANT, opcode
from xla_explorer.hlo.shape import UNBOUNDED, Shape, ShapeError, tuple_shape

if TYPE_CHECKING:
    from xla_explorer.frontends.stablehlo.conversion.module_converter import ModuleConverter

_RETURNS = ("stablehlo.return", "mhlo.return", "func.return", "chlo.return", "sdy.return")


class Scope:
    """The values that are visible in a function or region, while it is converted.

    values: name -> an instruction for each result, or the literal of a constant. outer: the scope
    around a region.
    """

    def __init__(
        self, converter: ModuleConverter, computation: HloComputation, outer: Scope | None = None
    ) -> None:
        self.converter = converter
        self.computation = computation
        self.outer = outer
        self.values: dict[str, list[HloInstruction] | Literal] = {}
        self.captured: dict[tuple[str, int], HloInstruction] = {}
        self.operation: Operation | None = None
        self.operations: list[Operation] = []
        self._literals: dict[str, HloInstruction] = {}
        self._main: HloInstruction | None = None

    # -- values ------------------------------------------------------------------------------------
    def value(self, use: Use) -> HloInstruction:
        """Return the instruction of an operand."""
        found = self.values.get(use.name)
        if isinstance(found, Literal):
            return self._literal(use.name, found)
        if found is not None:
            if use.number >= len(found):
                self._undefined(
                    use, f"{use.name} has {len(found)} result{'s' if len(found) != 1 else ''}"
                )
            return found[use.number]
        taken = self.captured.get((use.name, use.number))
        if taken is not None:
            return taken
        outside = self.outer.find(use.name) if self.outer is not None else None
        if isinstance(outside, Literal):
            return self._literal(use.name, outside)
        if outside is None:
            self._undefined(use, f"{use.name} is defined nowhere before its use")
        reader = self.converter.reader
        reader.refuse(
            "captured-value",
            f"this region reads {use.name} from outside, and the computation of its operation "
            "cannot",
            "give the value as an operand",
            use.at,
            len(use.name),
        )

    def find(self, name: str) -> list[HloInstruction] | Literal | None:
        """Return the value of a name, here or in an outer scope."""
        found = self.values.get(name)
        if found is None and self.outer is not None:
            return self.outer.find(name)
        return found

    def _undefined(self, use: Use, message: str) -> NoReturn:
        near = [name for name in self.values if name.startswith(use.name[:2])][:4]
        self.converter.reader.fail(
            message,
            "define the value first" + (f"; near: {', '.join(near)}" if near else ""),
            use.at,
            len(use.name),
        )

    def _literal(self, name: str, literal: Literal) -> HloInstruction:
        found = self._literals.get(name)
        if found is None:
            one = repeated_element(literal)
            found = self.constant(literal if one is None else one)
            if one is not None:  # as XLA's translation does: a splat of any size takes no memory
                found = self.computation.add(
                    opcode("broadcast"),
                    literal.shape,
                    (found,),
                    attributes_of({"dimensions": ()}),
                    metadata=self._metadata(),
                )
                found.line = self._line()
            self._literals[name] = found
        return found

    def constant(self, value: Any, like: Shape | None = None) -> HloInstruction:
        """Emit a constant. like: the shape whose element type a number takes."""
        literal = (
            value
            if isinstance(value, Literal)
            else literal_from_array(np.asarray(value, like.element_type.dtype if like else None))
        )
        i = self.computation.add(
            CONSTANT, literal.shape, payload=literal, metadata=self._metadata()
        )
        i.line = self._line()
        return i

    def operands(self, operation: Operation) -> list[HloInstruction]:
        """Return all operands of an operation, after a check of their stated types."""
        found = [self.value(use) for use in operation.operands]
        if operation.operand_types is not None:
            if len(operation.operand_types) != len(found):
                self.fail(
                    f"{operation.name} has {len(found)} operands, its type gives "
                    f"{len(operation.operand_types)}",
                    "correct the type",
                )
            for use, i, kind in zip(
                operation.operands, found, operation.operand_types, strict=True
            ):
                if isinstance(kind, Shape) and not fits(i.shape, kind):
                    self.converter.reader.fail(
                        f"{use.name} is {i.shape.text_without_layout}, but {operation.name} "
                        f"states {kind.text_without_layout}",
                        "correct the type, or the operand",
                        use.at,
                        len(use.name),
                    )
        return found

    # -- instructions ------------------------------------------------------------------------------
    def emit(
        self,
        name: str,
        operands: Iterable[HloInstruction],
        attributes: dict[str, Any] | None = None,
        *,
        shape: Shape | None = None,
        called: tuple[HloComputation, ...] = (),
        any_type: bool = False,
    ) -> HloInstruction:
        """Emit an instruction.

        shape: as the program states it; it must agree with the inferred shape. Dimensions that the
        program leaves open are inferred. any_type: the program chooses the element type.
        """
        spec, operands = opcode(name), tuple(operands)
        known = attributes_of(attributes or {})
        inferred = None
        if spec.shape_rule is not None:
            try:
                inferred = infer_shape(spec, tuple([o.shape for o in operands]), known, called)
            except (ShapeError, IndexError, AttributeError) as problem:
                self.fail(str(problem), f"see {spec.source}")
            if (
                any_type
                and shape is not None
                and inferred is not None
                and inferred.element_type is not shape.element_type
            ):
                inferred = inferred.with_element_type(shape.element_type)
            if shape is not None and not fits(inferred, shape):
                self.fail(
                    f"{self._name} states {shape.text_without_layout}, but its operands give "
                    f"{inferred.text_without_layout}",
                    f"correct the type; {spec.summary}",
                )
        final = (
            shape
            if inferred is None or (shape is not None and shape.base is inferred.base)
            else inferred
        )
        if final is None:
            self.fail(f"{self._name} needs the type of its result", "write it after ->")
        if self.converter.shapes is not None and has_open_size(final):
            self.refuse(
                "dynamic-size",
                f"the sizes of {self._name}, {final.text_without_layout}, do not follow from the "
                "given shapes",
                self.converter.size_hint,
            )
        i = self.computation.add(
            spec, final, operands, known, called=called, metadata=self._metadata()
        )
        i.line = self._line()
        if name not in ("tuple", "get-tuple-element"):
            self._main = i
        return i

    def pack(self, values: Sequence[HloInstruction]) -> HloInstruction:
        """Return one value unchanged, another number of values as a tuple."""
        return values[0] if len(values) == 1 else self.emit("tuple", values)

    def unpack(
        self, i: HloInstruction, count: int, *, always: bool = False
    ) -> list[HloInstruction]:
        """Return the values that `pack` combined.

        always: the instruction is a tuple even if there is only one value.
        """
        if count == 1 and not always:
            return [i]
        return [self.emit("get-tuple-element", (i,), {"index": k}) for k in range(count)]

    def broadcast(
        self, i: HloInstruction, shape: Shape, dimensions: Sequence[int] = ()
    ) -> HloInstruction:
        """Emit HLO's broadcast, which repeats whole dimensions only.

        Dimensions of size one that grow are first removed by a reshape.
        """
        grown = [
            k
            for k, d in enumerate(dimensions)
            if i.shape.dimensions[k] == 1 and shape.dimensions[d] != 1
        ]
        if grown:
            kept = [k for k in range(i.shape.rank) if k not in grown]
            i = self.emit(
                "reshape",
                (i,),
                shape=i.shape.with_dimensions([i.shape.dimensions[k] for k in kept]),
            )
            dimensions = [dimensions[k] for k in kept]
        if i.shape.base is shape.base and list(dimensions) == list(range(shape.rank)):
            return i
        order = sorted(range(len(dimensions)), key=lambda k: dimensions[k])
        if order != list(range(len(dimensions))):
            i = self.emit("transpose", (i,), {"dimensions": tuple(order)})
            dimensions = sorted(dimensions)
        return self.emit("broadcast", (i,), {"dimensions": tuple(dimensions)}, shape=shape)

    def full(self, number: Any, like: Shape) -> HloInstruction:
        """Emit a number broadcast to a shape."""
        i = self.constant(number, like)
        return self.broadcast(i, like.base) if like.rank else i

    # -- operations --------------------------------------------------------------------------------
    def run(self, region: Region) -> list[HloInstruction]:
        """Convert the operations of a region; the values that it returns."""
        self.operations = region.operations
        for operation in region.operations:
            self.operation = operation
            if operation.name in _RETURNS:
                if operation is not region.operations[-1]:
                    self.fail("operations follow the return", "end the region with its return")
                return self.operands(operation)
            self._convert(operation)
        self.converter.reader.fail(
            "this region returns nothing", "end it with stablehlo.return", region.at
        )

    def _convert(self, operation: Operation) -> None:
        if operation.name in ("stablehlo.constant", "mhlo.constant", "chlo.constant"):
            value = operation.attributes.get("value")
            if isinstance(value, int | float):
                self.refuse("constant", *scalar_constant(str(value).lower()))
            if not isinstance(value, Literal):
                self.refuse(
                    "constant",
                    f"{operation.name} holds no dense literal",
                    "write dense<...> : tensor<...>",
                )
            if (
                operation.types
                and isinstance(operation.types[0], Shape)
                and operation.types[0].base is not value.shape.base
            ):
                self.fail(
                    f"the constant is {value.shape}, its type {operation.types[0]}",
                    "correct the type",
                )
            if operation.results:
                self.values[operation.results[0][0]] = value
            return
        self._main = None
        conversion = self.converter.conversion_of(self, operation)
        try:
            results = conversion(self, operation)
        except (
            TypeError,
            ValueError,
            KeyError,
            AttributeError,
            IndexError,
            HloBuilderError,
        ) as problem:
            # Attributes of another kind than the operation has; the problem names them.
            reader = self.converter.reader
            span = reader.span(operation.at, len(operation.name))
            raise StablehloError(
                f"{operation.name} cannot be converted with these attributes and operands: "
                f"{problem}",
                span,
                "compare its attributes with those of the StableHLO specification",
            ) from problem
        if len(results) != len(operation.types):
            self.fail(
                f"{operation.name} gives {len(results)} results, its type {len(operation.types)}",
                "correct the type",
            )
        for number, (i, stated) in enumerate(zip(results, operation.types, strict=True)):
            if isinstance(stated, Shape) and not fits(i.shape, stated):
                self.fail(
                    f"result {number} of {operation.name} is {i.shape.text_without_layout}, its "
                    f"type states {stated.text_without_layout}",
                    "correct the type",
                )
        self._annotate(operation)
        taken = 0
        for name, count in operation.results:
            if self.find(name) is not None:
                self.fail(f"{name} is defined twice", "rename one of the values")
            self.values[name] = results[taken : taken + count]
            taken += count

    def _annotate(self, operation: Operation) -> None:
        """Set sharding and frontend attributes on the main instruction of an operation."""
        given, i = operation.attributes, self._main
        if i is None or i.parent is not self.computation:
            return
        more: dict[str, Any] = {}
        sharding = sharding_of_results(self.converter.meshes, given)
        if sharding is not None:
            more["sharding"] = sharding
        frontend = given.get("mhlo.frontend_attributes")
        if isinstance(frontend, Dictionary) and frontend:
            more["frontend_attributes"] = frontend_attributes(frontend)
        if more:
            self.computation.set_attributes(i, i.attributes.with_values(**more))

    def type_of(self, operation: Operation, number: int = 0) -> Shape:
        """Return the stated shape of a result."""
        kind = operation.types[number] if number < len(operation.types) else None
        if not isinstance(kind, Shape):
            self.refuse(
                "value-type",
                f"result {number} of {operation.name} must be a tensor, token or tuple",
                "use tensors",
            )
        return kind

    def result_tuple(self, operation: Operation) -> Shape:
        """Return the stated shapes of all results, as a tuple."""
        return tuple_shape([self.type_of(operation, k) for k in range(len(operation.types))])

    def attribute(
        self, operation: Operation, name: str, default: Any = None, *, required: bool = False
    ) -> Any:
        """Return an attribute; fail if a required one is missing."""
        if required and name not in operation.attributes:
            self.fail(f"{operation.name} needs the attribute {name}", f"write {name} = ...")
        return operation.attributes.get(name, default)

    def integer(self, operation: Operation, name: str) -> int:
        """Return a required attribute that is a whole number."""
        value = self.attribute(operation, name, required=True)
        if not isinstance(value, int):
            self.fail(f"{name} of {operation.name} must be an integer", f"write {name} = 0 : i64")
        return value

    def integers(
        self, operation: Operation, name: str, default: tuple[int, ...] | None = None
    ) -> tuple[int, ...]:
        """Return an attribute that lists integers; without a default it is required."""
        value = self.attribute(operation, name, default, required=default is None)
        try:
            return integers(value)
        except ValueError as problem:
            self.fail(f"{name} of {operation.name}: {problem}", f"write {name} = array<i64: 0, 1>")

    def keyword(
        self,
        operation: Operation,
        name: str,
        default: str | None = None,
        *,
        among: Sequence[str] = (),
    ) -> str:
        """Return an attribute that is a value of an enumeration; without a default it is required.

        among: the valid values.
        """
        value = self.attribute(operation, name, default, required=default is None)
        if not isinstance(value, (Keyword, str)):
            self.fail(
                f"{name} of {operation.name} must be a value of an enumeration",
                f"write {name} = #stablehlo<...>",
            )
        if among and value not in among:
            self.fail(
                f"{name} of {operation.name} must be one of {', '.join(among)}, got {value}",
                "write one of them",
            )
        return str(value)

    # -- errors and places -------------------------------------------------------------------------
    @property
    def _name(self) -> str:
        return self.operation.name if self.operation is not None else "the function"

    def fail(self, message: str, hint: str) -> NoReturn:
        """Raise StablehloError at the operation being converted."""
        operation = self.operation
        self.converter.reader.fail(
            message, hint, operation.at if operation else 0, len(operation.name) if operation else 1
        )

    def refuse(self, code: str, message: str, hint: str, **facts: Any) -> NoReturn:
        """Raise StablehloUnsupportedError at the operation being converted."""
        operation = self.operation
        self.converter.reader.refuse(
            code,
            message,
            hint,
            operation.at if operation else 0,
            len(operation.name) if operation else 1,
            **facts,
        )

    def _metadata(self) -> str | None:
        return (
            self.converter.locations.metadata(self.operation.location)
            if self.operation is not None
            else None
        )

    def _line(self) -> int:
        return self.converter.line(self.operation.at) if self.operation is not None else 0


def has_open_size(shape: Shape) -> bool:
    """Return True if an array has a dimension of unknown size and without a bound."""
    return any(UNBOUNDED in part.dimensions for _, part in shape.leaves() if part.is_array)


def fits(actual: Shape, stated: Shape) -> bool:
    """Return True if a value of the actual shape is valid for the stated one.

    Open dimensions accept any size.
    """
    if actual.base is stated.base:
        return True
    if actual.is_tuple or stated.is_tuple:
        return len(actual.tuple_shapes) == len(stated.tuple_shapes) and all(
            map(fits, actual.tuple_shapes, stated.tuple_shapes)
        )
    return (
        actual.element_type is stated.element_type
        and actual.rank == stated.rank
        and all(
            a == b or moving_a or moving_b
            for a, b, moving_a, moving_b in zip(
                actual.dimensions, stated.dimensions, actual.dynamic, stated.dynamic, strict=True
            )
        )
    )


def quoted(value: Any) -> str:
    """Return a string of HLO text."""
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'


def frontend_attributes(given: Dictionary) -> str:
    """Return the HLO text of frontend attributes, sorted by name."""
    return read_frontend_attributes(
        "{" + ",".join([f"{name}={quoted(given[name])}" for name in sorted(given)]) + "}"
    )


def tuple_of(shapes: Sequence[Shape]) -> Shape:
    """Return one shape unchanged, another number of shapes as a tuple."""
    return shapes[0] if len(shapes) == 1 else tuple_shape(shapes)
