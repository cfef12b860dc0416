"""A finished LLVM module as data: functions, globals, declarations and metadata.

Later steps read and replace fields of these records; `llvm_text.py` prints the module, last.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from xla_explorer.compiler.codegen.ir.definitions import (
    EMPTY_NODE,
    AttributeGroup,
    Declaration,
    Definition,
    Metadata,
)
from xla_explorer.compiler.codegen.ir.optimization_level import OptimizationLevel
from xla_explorer.compiler.codegen.ir.records import Body, Instruction

ALWAYS_INLINE = "alwaysinline"
SOURCE = "module.hlo"  # name of the source file in modules of programs


class LlvmFunction(NamedTuple):
    """A function definition.

    parameters: with types and attributes. origin: HLO instruction of the header. linkage: empty for
    external. attributes: names of attributes and attribute groups. globals, declarations: the
    module's definitions and declarations that the body needs. callees: functions of the module that
    it calls or takes the address of. has_loop: the body has a loop. scope: number of its debug
    information, 0 without. locations: number of the debug location of each record, 0 without; empty
    without debug information. is_spaced: an empty line follows.
    """

    name: str
    parameters: tuple[str, ...]
    body: Body
    origin: int | None = None
    result: str = "void"
    linkage: str = "internal"
    convention: str = ""
    attributes: tuple[str, ...] = ("nounwind",)
    optimization_level: OptimizationLevel = OptimizationLevel.DEFAULT
    globals: tuple[Definition, ...] = ()
    declarations: tuple[Declaration, ...] = ()
    callees: tuple[str, ...] = ()
    has_loop: bool = False
    scope: int = 0
    locations: tuple[int, ...] = ()
    is_spaced: bool = True

    @property
    def is_inlined(self) -> bool:
        """True if LLVM inlines every call; each module then has its own copy."""
        return ALWAYS_INLINE in self.attributes


@dataclass(frozen=True, slots=True)
class LlvmModule:
    """A module.

    source: name of its source file. triple: of the target; empty for that of the compilation.
    globals: constants, variables, and metadata of loops. elsewhere: functions that another module
    defines. attribute_groups: None without a section for them. metadata: the last section. support:
    definitions as text, after all others.
    is_whole: no part may be compiled alone, as mutable variables need.
    """

    functions: tuple[LlvmFunction, ...]
    source: str = ""
    triple: str = ""
    globals: tuple[Definition, ...] = ()
    elsewhere: tuple[LlvmFunction, ...] = ()
    declarations: tuple[Declaration, ...] = ()
    attribute_groups: tuple[AttributeGroup, ...] | None = None
    metadata: tuple[Metadata, ...] = (EMPTY_NODE,)
    support: tuple[str, ...] = ()
    is_whole: bool = False

    @property
    def line_count(self) -> int:
        """Lines of the functions and of the definitions before them."""
        return len(self.globals) + sum([len(function.body) + 2 for function in self.functions])

    def has_type(self, scalar: str) -> bool:
        """Return True if a value of an operation has the scalar type."""
        return any(
            value.type.scalar == scalar
            for function in self.functions
            for record in function.body
            if isinstance(record, Instruction)
            for value in (record.result, *record.operands)
            if value is not None
        )

    def reached_from(self, name: str) -> LlvmModule:
        """Return the module with one function, made external, and those that it reaches."""
        reached = reached_functions(self.functions, [name])
        kept = [function for function in self.functions if function.name in reached]
        return replace(
            self,
            functions=tuple([f._replace(linkage="") if f.name == name else f for f in kept]),
        )


def reached_functions(
    functions: Iterable[LlvmFunction], names: Iterable[str], *, inlined_only: bool = False
) -> set[str]:
    """Return the named functions and those that they call, directly or through others.

    inlined_only: follow only the calls of functions that are inlined.
    """
    by_name = {function.name: function for function in functions}
    reached = {name for name in names if name in by_name}
    pending = list(reached)
    while pending:
        for callee in by_name[pending.pop()].callees:
            if callee in by_name and callee not in reached:
                reached.add(callee)
                if by_name[callee].is_inlined or not inlined_only:
                    pending.append(callee)
    return reached
