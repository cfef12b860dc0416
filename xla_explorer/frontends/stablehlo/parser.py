"""Parser of MLIR text to a tree of operations: modules, functions, regions, generic operations.

`"dialect.name"(%a, %b) <{properties}> ({regions}) {attributes} : (types) -> types loc(...)`. Custom
forms are in `pretty_forms.py`. Source: https://mlir.llvm.org/docs/LangRef.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from xla_explorer.foundation.limits import check_deadline
from xla_explorer.frontends.stablehlo.attributes import Dictionary, read_attribute, read_dictionary
from xla_explorer.frontends.stablehlo.locations import skip_location
from xla_explorer.frontends.stablehlo.program import (
    CONSTANTS,
    Argument,
    Function,
    Operation,
    Program,
    Region,
    Use,
)
from xla_explorer.frontends.stablehlo.reader import VALUE, Reader
from xla_explorer.frontends.stablehlo.types import (
    FunctionType,
    MlirType,
    read_results,
    read_type,
    type_list,
)

_RESULT = re.compile(r"(%[\w$.\-]+)(?::(\d+))?")
_BLOCK = re.compile(r"\^[\w$.\-]+")
_OPERATION = re.compile(r"[A-Za-z_][\w$]*(?:\.[\w$\-]+)*")
_NAMED = re.compile(r'"([A-Za-z_][\w$.\-]*)"')
_METADATA = re.compile(r"[ \t]*[#!][A-Za-z_][\w$\-]*[ \t]*=[^\n]*\n?")
_SECTION = re.compile(r"\{-#.*?#-\}", re.DOTALL)

CustomForm = Callable[["Parser", Operation], None]


class Parser:
    """Parser of one file.

    custom_form: reads the rest of an operation after its name, unless it is in the generic form.
    """

    def __init__(self, reader: Reader, custom_form: CustomForm) -> None:
        self.reader = reader
        self.custom_form = custom_form

    # -- the file ----------------------------------------------------------------------------------
    def program(self) -> Program:
        """Read the whole text: one module, or functions without one."""
        name, attributes, operations = "", Dictionary(), self._operations_of_file()
        modules = [one for one in operations if one.name == "builtin.module"]
        if len(modules) > 1:
            names = ", ".join([f"@{one.attributes.get('sym_name', '')}" for one in modules])
            self.reader.refuse(
                "several-modules",
                f"the file holds {len(modules)} modules: {names}",
                "give a file of one",
                modules[1].at,
                6,
            )
        if len(operations) == 1 and modules:
            module = modules[0]
            name, attributes = str(module.attributes.pop("sym_name", "")), module.attributes
            operations = module.regions[0].operations
        program = Program(name, attributes, {}, {})
        for operation in operations:
            self._add(program, operation)
        return program

    def _operations_of_file(self) -> list[Operation]:
        reader, operations = self.reader, []
        while reader.skip() < len(reader.text):
            if reader.take(_SECTION) is not None:
                continue
            if reader.text[reader.at] in "#!":
                if _METADATA.match(reader.text, reader.at) is None:
                    reader.fail(
                        f"expected a module or functions, found {reader.found()}",
                        "the text must hold a module of StableHLO",
                    )
                self._alias()
            else:
                operations.append(self.operation())
        return operations

    def _add(self, program: Program, operation: Operation) -> None:
        """Add a function or a mesh to the program; refuse other operations."""
        reader = self.reader
        if operation.name == "func.func":
            function = operation.words[0]
            if function.name in program.functions:
                reader.fail(
                    f"@{function.name} is defined twice",
                    "rename one of the functions",
                    function.at,
                )
            program.functions[function.name] = function
        elif operation.name == "sdy.mesh":
            program.meshes[operation.words[0]] = operation.words[1]
        elif operation.name == "builtin.module":
            reader.refuse(
                "nested-module",
                "a module inside a module has no place in HLO",
                "give the inner module alone",
                operation.at,
                6,
            )
        else:
            reader.refuse(
                "not-a-function",
                f"{operation.name} is outside every function",
                "a StableHLO module holds functions (func.func)",
                operation.at,
                len(operation.name),
            )

    def _alias(self) -> None:
        """Pass over `#name = ...`; it is read when it is used."""
        reader = self.reader
        reader.at = reader.text.index("=", reader.at) + 1
        if skip_location(reader) is None:
            read_attribute(reader)

    # -- operations --------------------------------------------------------------------------------
    def operation(self) -> Operation:
        """Read one operation with its results and location."""
        reader = self.reader
        check_deadline("reading the text")
        results: list[tuple[str, int]] = []
        start = reader.skip()
        while (m := reader.take(_RESULT)) is not None:
            results.append((m.group(1), int(m.group(2) or 1)))
            if not reader.accept(","):
                break
        if results:
            reader.expect("=", "an operation (after the names of its results)")
        at = reader.skip()
        generic = reader.take(_NAMED)
        if generic is not None:
            operation = Operation(CONSTANTS.get(generic.group(1), generic.group(1)), at, results)
            self.generic(operation)
        else:
            m = reader.take(_OPERATION)
            if m is None:
                reader.fail(
                    f"expected an operation, found {reader.found()}",
                    "write one such as stablehlo.add %a, %b : tensor<2xf32>",
                    at if results else start,
                )
            operation = Operation(m.group(), at, results)
            if operation.name in ("module", "builtin.module"):
                self._module(operation)
            elif operation.name in ("func.func", "func"):
                self._function(operation)
            else:
                self.custom_form(self, operation)
        location = skip_location(reader)
        operation.location = location if location is not None else operation.location
        count = sum([n for _, n in results])
        if results and count != len(operation.types):
            reader.fail(
                f"{count} results are named, but {operation.name} has {len(operation.types)}",
                "name each result: %0, %1 = ..., or %0:2 = ...",
                start,
                len(results[0][0]),
            )
        return operation

    def generic(self, operation: Operation) -> None:
        """Read the rest of an operation after its name, in the generic form."""
        reader = self.reader
        reader.expect("(", "the generic form of an operation")
        operation.operands = self.uses(")")
        if reader.peek("["):
            reader.refuse(
                "control-flow-graph",
                f"{operation.name} branches to other blocks",
                "StableHLO has structured control flow only",
                reader.at,
            )
        if reader.peek("<{"):
            reader.accept("<")
            operation.attributes.update(read_dictionary(reader))
            reader.expect(">", "properties")
        if reader.accept("("):
            while not reader.accept(")"):
                operation.regions.append(self.region())
                if not reader.accept(","):
                    reader.expect(")", "the regions of an operation")
                    break
        if reader.peek("{"):
            operation.attributes.update(read_dictionary(reader))
        reader.expect(":", "the generic form of an operation (its type)")
        self.signature(operation)
        if operation.name == "func.func":
            self._generic_function(operation)
        elif operation.name == "sdy.mesh":
            text = getattr(operation.attributes.get("mesh"), "text", "")
            operation.words = [operation.attributes.get("sym_name", ""), text]

    def signature(self, operation: Operation) -> None:
        """Read the types after the colon: `(A, B) -> C`, `A, B -> C`, one for all or one each."""
        reader = self.reader
        if reader.accept("("):
            operation.operand_types = type_list(reader, ")")
            reader.expect("->", "the type of an operation")
            operation.types = read_results(reader)
            return
        types = [read_type(reader)]
        while reader.accept(","):
            types.append(read_type(reader))
        if reader.accept("->"):
            operation.operand_types = tuple(types)
            operation.types = read_results(reader)
        else:
            operation.types = tuple(types)

    def uses(self, end: str) -> list[Use]:
        """Read operands up to and including the closing bracket."""
        found: list[Use] = []
        while not self.reader.accept(end):
            found.append(self.use())
            if not self.reader.accept(","):
                self.reader.expect(end, "a list of operands")
                break
        return found

    def use(self) -> Use:
        """Read one operand."""
        m = self.reader.need(VALUE, "an operand such as %0")
        return Use(m.group(1), int(m.group(2) or 0), m.start())

    # -- regions -----------------------------------------------------------------------------------
    def region(self, arguments: list[Argument] | None = None) -> Region:
        """Read `{ ^bb0(%x: type): operations }`.

        arguments: those that the custom form of the operation has.
        """
        reader = self.reader
        start = reader.skip()
        reader.expect("{", "a region")
        region = Region(list(arguments or ()), [], start)
        if reader.take(_BLOCK) is not None:
            if reader.accept("("):
                region.arguments += self.arguments()
            reader.expect(":", "the label of a block")
        while not reader.accept("}"):
            if reader.peek("^"):
                reader.refuse(
                    "control-flow-graph",
                    "a region of several blocks",
                    "StableHLO has structured control flow only",
                    reader.at,
                )
            if reader.at >= len(reader.text):
                reader.fail("the text ends inside this region", "was the file cut?", start)
            region.operations.append(self.operation())
        return region

    def arguments(self) -> list[Argument]:
        """Read `%x: type {attributes} loc(...), ...)` after the opening bracket.

        A declaration has types alone.
        """
        reader = self.reader
        found: list[Argument] = []
        while not reader.accept(")"):
            at = reader.skip()
            m = reader.take(VALUE)
            if m is not None:
                reader.expect(":", "an argument")
            kind = read_type(reader)
            attributes = read_dictionary(reader) if reader.peek("{") else Dictionary()
            found.append(
                Argument(m.group(1) if m else "", kind, attributes, skip_location(reader), at)
            )
            if not reader.accept(","):
                reader.expect(")", "a list of arguments")
                break
        return found

    # -- module and function -----------------------------------------------------------------------
    def _module(self, operation: Operation) -> None:
        reader = self.reader
        operation.name = "builtin.module"
        name = reader.symbol() if reader.peek("@") else ""
        if reader.keyword("attributes"):
            operation.attributes = read_dictionary(reader)
        operation.attributes["sym_name"] = name
        operation.regions = [self.region()]

    def _function(self, operation: Operation) -> None:
        reader = self.reader
        operation.name = "func.func"
        private = False
        for word in ("public", "private", "nested"):
            if reader.keyword(word):
                private = word == "private"
        at = reader.skip()
        name = reader.symbol()
        reader.expect("(", "the arguments of a function")
        arguments = self.arguments()
        results: list[MlirType] = []
        result_attributes: list[Dictionary] = []
        if reader.accept("->"):
            if reader.accept("("):
                for result in self.arguments():
                    results.append(result.type)
                    result_attributes.append(result.attributes)
            else:
                results.append(read_type(reader))
                result_attributes.append(Dictionary())
        attributes = read_dictionary(reader) if reader.keyword("attributes") else Dictionary()
        body = self.region(arguments) if reader.peek("{") else None
        operation.words = [
            Function(
                name,
                private,
                arguments,
                tuple(results),
                tuple(result_attributes),
                attributes,
                body,
                at,
            )
        ]

    def _generic_function(self, operation: Operation) -> None:
        given = operation.attributes
        kind, name = given.get("function_type"), str(given.get("sym_name", ""))
        if not isinstance(kind, FunctionType) or not operation.regions:
            self.reader.fail(
                "func.func needs function_type, sym_name and a body",
                "compare with mlir-opt --mlir-print-op-generic",
                operation.at,
            )
        region = operation.regions[0]
        if region.operations and len(region.arguments) != len(kind.inputs):
            self.reader.fail(
                f"the body of @{name} takes {len(region.arguments)} arguments, its type gives "
                f"{len(kind.inputs)}",
                "correct function_type, or the arguments of the block",
                operation.at,
            )
        for key, owners in (("arg_attrs", len(kind.inputs)), ("res_attrs", len(kind.results))):
            found = given.setdefault(key, tuple([Dictionary()] * owners))
            if (
                not isinstance(found, tuple)
                or len(found) != owners
                or not all(isinstance(one, Dictionary) for one in found)
            ):
                self.reader.fail(
                    f"{key} of @{name} must list {owners} dictionaries",
                    "write {} for an empty one",
                    operation.at,
                )
        arguments = [
            a._replace(attributes=more)
            for a, more in zip(region.arguments, given["arg_attrs"], strict=False)
        ]
        region.arguments = arguments
        private = (
            isinstance(given.get("sym_visibility"), str) and given["sym_visibility"] == "private"
        )
        operation.words = [
            Function(
                name,
                private,
                arguments,
                kind.results,
                given["res_attrs"],
                given,
                region if region.operations else None,
                operation.at,
            )
        ]
