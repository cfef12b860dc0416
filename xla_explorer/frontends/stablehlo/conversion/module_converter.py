"""Conversion of a program to an HloModule: computations, header, parameters and attributes."""

from __future__ import annotations

import bisect
import re
from collections.abc import Mapping, Sequence
from typing import Any

from xla_explorer.foundation.suggestions import nearest
from xla_explorer.frontends.stablehlo.attributes import Dictionary
from xla_explorer.frontends.stablehlo.conversion.entry_arguments import (
    EntryArgument,
    entry_arguments,
    shapes_template,
)
from xla_explorer.frontends.stablehlo.conversion.known_values import KnownValues
from xla_explorer.frontends.stablehlo.conversion.registry import CONVERSIONS, Conversion
from xla_explorer.frontends.stablehlo.conversion.scope import Scope, fits, frontend_attributes
from xla_explorer.frontends.stablehlo.conversion.sharding import sharding_of_value
from xla_explorer.frontends.stablehlo.conversion.special_functions import write_function
from xla_explorer.frontends.stablehlo.errors import NEEDS_JAX
from xla_explorer.frontends.stablehlo.locations import Locations
from xla_explorer.frontends.stablehlo.program import Argument, Function, Operation, Program
from xla_explorer.frontends.stablehlo.reader import Reader
from xla_explorer.hlo.analysis.effects import is_observable
from xla_explorer.hlo.builder import HloBuilder
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import CONSTANT
from xla_explorer.hlo.shape import Shape
from xla_explorer.hlo.text.module_header import (
    InputOutputAlias,
    buffer_donor_text,
    input_output_alias_text,
)

_NOT_IN_NAMES = re.compile(r"[^\w.\-]")
_PLAIN_ARGUMENT = re.compile(r"%arg\d+|%\d+")
_OPEN_SIZE = re.compile(r"[<x]\?x")


def hlo_name(text: str, otherwise: str) -> str:
    """Return a legal name of HLO text."""
    name = _NOT_IN_NAMES.sub("_", text).strip("_") or otherwise
    return name if name[0].isalpha() else f"_{name}"


def _names(functions: Sequence[Function]) -> str:
    """Return the first names of a list of functions, and the number of the others."""
    more = f" and {len(functions) - 5} more" if len(functions) > 5 else ""
    return ", ".join([f"@{f.name}" for f in functions[:5]]) + more


class ModuleConverter:
    """Converts one program. `builder` writes the computations that are decompositions of ours."""

    def __init__(
        self,
        program: Program,
        reader: Reader,
        open_result: str,
        function: str | None = None,
        shapes: Sequence[Any] | None = None,
    ) -> None:
        self.program = program
        self.function = function
        self.shapes = shapes
        self.known = KnownValues()
        self.has_open_sizes = _OPEN_SIZE.search(reader.text) is not None
        self.size_hint = "export the program with static shapes"
        self.open_result = open_result
        self.reader = reader
        self.locations = Locations(reader)
        self.meshes = program.meshes
        self.builder = HloBuilder(hlo_name(program.name, "main"), locations=False)
        self.module: HloModule = self.builder.module
        self._instances: dict[tuple[str, tuple[Any, ...]], HloComputation] = {}
        self._open: list[str] = []
        self._lines = [m.end() for m in re.finditer("\n", reader.text)]

    def line(self, offset: int) -> int:
        """Return the line of an offset, from 1."""
        return bisect.bisect_right(self._lines, offset) + 1

    def conversion_of(self, scope: Scope, operation: Operation) -> Conversion:
        """Return the conversion of an operation by its name; only CHLO's have their dialect."""
        dialect, _, short = operation.name.partition(".")
        key = short if dialect in ("stablehlo", "mhlo") else operation.name
        found = CONVERSIONS.get(key)
        if found is None and dialect == "mhlo":
            found = CONVERSIONS.get(f"chlo.{short}")
        if found is None:
            near = nearest(key, CONVERSIONS, 3)
            scope.refuse(
                "operation",
                f"{operation.name} has no HLO of ours"
                + (f"; near: {', '.join(near)}" if near else ""),
                f"write it by operations of StableHLO{NEEDS_JAX}",
                operation=operation.name,
            )
        return found

    def decomposition(self, name: str, shapes: tuple[Shape, ...]) -> HloComputation:
        """Return the computation of a special function; one for each combination of shapes."""
        found = self._instances.get((f"chlo.{name}", shapes))
        if found is None:
            found = self._instances[f"chlo.{name}", shapes] = write_function(
                self.builder, name, shapes
            )
        return found

    # -- functions ---------------------------------------------------------------------------------
    def convert(self) -> HloModule:
        """Return the module; its entry is `main`, or the only function that is not private."""
        function = self._entry()
        stated = [self._shape(argument) for argument in function.arguments]
        arguments = entry_arguments(self.reader, function, stated, self.shapes)
        self._set_size_hint(stated)
        entry = self.module.entry
        scope = Scope(self, entry)
        self._add_parameters(scope, function, arguments)
        results = self._body(function, scope)
        scope.operation = None
        # A library call may have a layout of its own; results have the layout that a caller
        # expects.
        results = [
            i
            if i.shape.is_tuple or i.shape.base is i.shape
            else scope.emit("copy", (i,), shape=i.shape.base)
            for i in results
        ]
        shardings = [sharding_of_value(self.meshes, given) for given in function.result_attributes]
        root = scope.pack(results)
        if any(s is not None for s in shardings):
            if len(results) == 1:
                root = scope.emit("copy", (root,))
            text = (
                shardings[0]
                if len(shardings) == 1
                else "{" + ", ".join([s or self.open_result for s in shardings]) + "}"
            )
            entry.set_attributes(root, root.attributes.with_values(sharding=text))
        entry.set_root(root)
        self._header(function, len(results))
        module = self.module
        for computation in module.computations.values():
            _remove_unused_sizes(computation, self.has_open_sizes)
        module.computations = {c.name: c for c in module.post_order_computations()}
        module.source_text, module.filename = (
            self.reader.text,
            self.reader.filename or "<stablehlo>",
        )
        return module

    def _entry(self) -> Function:
        functions = {name: f for name, f in self.program.functions.items() if f.body is not None}
        if self.function is not None:
            return self._chosen(self.function.removeprefix("@"), functions)
        if "main" in functions:
            return functions["main"]
        found = [f for f in functions.values() if not f.private] or list(functions.values())
        if not found:
            self.reader.fail(
                "the text holds no function to begin with",
                "a program has a function with a body",
                0,
            )
        if len(found) > 1:
            names, example = _names(found), found[0].name
            hint = (
                f"choose one: function={example!r} of xe.load and xe.compile, "
                f"`--function {example}` of %%hlo and xla-explorer; or name it @main"
            )
            self.reader.fail(f"several functions could run first: {names}", hint, found[1].at)
        return found[0]

    def _chosen(self, name: str, functions: Mapping[str, Function]) -> Function:
        if name not in functions:
            near = [functions[other] for other in nearest(name, functions)] or list(
                functions.values()
            )
            self.reader.fail(
                f"the text has no function @{name}",
                f"it has {_names(near)}" if near else "it has no function with a body",
                0,
            )
        return functions[name]

    def call(self, scope: Scope, name: str, operands: Sequence[HloInstruction]) -> HloComputation:
        """Return the computation of a function for operands of these shapes."""
        function = self._function(scope, name)
        shapes = [o.shape.base for o in operands]
        stated = [self._shape(a) for a in function.arguments]
        if len(shapes) != len(stated) or not all(map(fits, shapes, stated)):
            scope.fail(
                f"@{name} takes ({', '.join([s.text_without_layout for s in stated])}), "
                f"got ({', '.join([s.text_without_layout for s in shapes])})",
                "correct the operands",
            )
        values = [self.known.value(o) if self.has_open_sizes else None for o in operands]
        return self._instance(scope, function, list(map(EntryArgument, shapes, values)))

    def named(self, scope: Scope, name: str) -> HloComputation:
        """Return the computation of a function with its stated shapes."""
        function = self._function(scope, name)
        arguments = [EntryArgument(self._shape(a), None) for a in function.arguments]
        return self._instance(scope, function, arguments)

    def _function(self, scope: Scope, name: str) -> Function:
        function = self.program.functions.get(name)
        if function is None:
            scope.fail(
                f"no function is named @{name}",
                f"the functions are {', '.join('@' + n for n in list(self.program.functions)[:6])}",
            )
        return function

    def _instance(
        self, scope: Scope, function: Function, arguments: Sequence[EntryArgument]
    ) -> HloComputation:
        name = function.name
        key = name, tuple([argument.key for argument in arguments])
        found = self._instances.get(key)
        if found is not None:
            return found
        if name in self._open:
            scope.refuse(
                "recursion",
                f"@{name} calls itself ({' -> '.join([*self._open, name])})",
                "HLO has no recursion: write a loop",
            )
        self._open.append(name)
        computation = self.module.add_computation(hlo_name(name, "function"))
        inner = Scope(self, computation)
        self._add_parameters(inner, function, arguments)
        results = self._body(function, inner)
        computation.set_root(inner.pack(results))
        self._open.pop()
        self._instances[key] = computation
        return computation

    def _add_parameters(
        self, scope: Scope, function: Function, arguments: Sequence[EntryArgument]
    ) -> None:
        for number, (argument, (shape, value)) in enumerate(
            zip(function.arguments, arguments, strict=True)
        ):
            parameter = self._parameter(scope.computation, number, argument, shape)
            self.known.state(parameter, value)
            scope.values[argument.name] = [parameter]

    def _set_size_hint(self, stated: Sequence[Shape]) -> None:
        """Set the hint for an open size: give shapes, or values of arguments that decide sizes."""
        if self.has_open_sizes or self.shapes is not None:
            self.size_hint = (
                f"give the sizes: xe.load(path, shapes={shapes_template(stated)}) with a number "
                "for each `?`; an argument that "
                "decides a size by its value is given as that value, such as np.int32(4)"
            )

    def _body(self, function: Function, scope: Scope) -> list[HloInstruction]:
        if function.body is None:
            self.reader.fail(
                f"@{function.name} is declared, but has no body here",
                "give the function's body",
                function.at,
                len(function.name) + 1,
            )
        results = scope.run(function.body)
        stated = [kind for kind in function.results if isinstance(kind, Shape)]
        if len(results) != len(stated) or not all(
            fits(i.shape, kind) for i, kind in zip(results, stated, strict=True)
        ):
            got = ", ".join([i.shape.text_without_layout for i in results])
            self.reader.fail(
                f"@{function.name} states "
                f"({', '.join([s.text_without_layout for s in stated])}), but returns ({got})",
                "correct the type of the function",
                function.at,
                len(function.name) + 1,
            )
        return results

    def _shape(self, argument: Argument) -> Shape:
        if not isinstance(argument.type, Shape):
            self.reader.refuse(
                "value-type",
                "an argument that is not a tensor, token or tuple",
                "pass tensors",
                argument.at,
                max(len(argument.name), 1),
            )
        return argument.type

    def _parameter(
        self, computation: HloComputation, number: int, argument: Argument, shape: Shape
    ) -> HloInstruction:
        place = self.locations.at(argument.location)
        name = (
            place.name
            if place.name and not place.file
            else argument.name
            if not _PLAIN_ARGUMENT.fullmatch(argument.name)
            else ""
        )
        i = computation.add_parameter(
            number, shape, hlo_name(name.lstrip("%"), f"arg{number}") if name else f"arg{number}"
        )
        i.metadata = self.locations.metadata(argument.location)
        i.line = self.line(argument.at)
        given: dict[str, Any] = {}
        sharding = sharding_of_value(self.meshes, argument.attributes)
        if sharding is not None:
            given["sharding"] = sharding
        frontend = argument.attributes.get("mhlo.frontend_attributes")
        if isinstance(frontend, Dictionary) and frontend:
            given["frontend_attributes"] = frontend_attributes(frontend)
        if given:
            computation.set_attributes(i, i.attributes.with_values(**given))
        return i

    # -- the header --------------------------------------------------------------------------------
    def _header(self, function: Function, result_count: int) -> None:
        """Set aliases, donors, and the numbers of replicas and partitions.

        Source: XLA's mlir_hlo_to_hlo.cc.
        """
        given, header = self.program.attributes, self.module.attributes
        aliases, donors = list[InputOutputAlias](), list[tuple[int, tuple[int, ...]]]()
        for number, argument in enumerate(function.arguments):
            output = argument.attributes.get("tf.aliasing_output")
            if isinstance(output, int):
                index = (output,) if result_count != 1 else ()
                aliases.append(InputOutputAlias(index, number, (), "may-alias"))
            elif argument.attributes.get("jax.buffer_donor") or argument.attributes.get(
                "mhlo.buffer_donor"
            ):
                donors.append((number, ()))
        if aliases:
            header["input_output_alias"] = input_output_alias_text(aliases)
        if donors:
            header["buffer_donor"] = buffer_donor_text(donors)
        for name, own in (
            ("mhlo.num_replicas", "replica_count"),
            ("mhlo.num_partitions", "num_partitions"),
        ):
            if isinstance(given.get(name), int) and given[name] != 1:
                header[own] = str(given[name])
        frontend = Dictionary(given.get("mhlo.frontend_attributes") or {})
        if any(
            i.attributes.get("custom_call_target", "").startswith('"xla.sdy.')
            for i in self.module.instructions()
        ):
            listed = ", ".join([f"{name} = #sdy.mesh{text}" for name, text in self.meshes.items()])
            frontend["xla.sdy.meshes"] = f"{{{listed}}}"
        if frontend:
            header["frontend_attributes"] = frontend_attributes(frontend)


def _remove_unused_sizes(computation: HloComputation, computed: bool) -> None:
    """Remove unused constants of sizes, and their copies.

    computed: also remove unused computations of sizes.
    """
    for i in reversed(list(computation.instructions.values())):
        constant = i.opcode is CONSTANT or (
            i.opcode.name == "broadcast" and i.operands[0].opcode is CONSTANT
        )
        of_integers = computed and i.shape.is_array and not i.shape.element_type.is_float
        folded = of_integers and i.opcode.name not in ("custom-call", "parameter")
        if (constant or folded) and not i.users and not i.is_root and not is_observable(i):
            computation.remove(i)
