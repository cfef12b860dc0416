"""The functions of an entry computation: one, or the parts of a long list of calls."""

from __future__ import annotations

from typing import Final

from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.in_order_builder import InOrderBuilder
from xla_explorer.compiler.codegen.ir.llvm_module import LlvmFunction
from xla_explorer.compiler.codegen.ir.marks import metadata_definitions
from xla_explorer.compiler.codegen.ir.optimization_level import OptimizationLevel
from xla_explorer.compiler.codegen.ir.records import INVARIANT, Access, Line
from xla_explorer.compiler.codegen.ir.types import I32, I64, PTR
from xla_explorer.compiler.codegen.ir.values import Pointer, Value
from xla_explorer.compiler.codegen.operation_writer import OperationWriter

MOST_POINTERS: Final = 32  # passed as parameters
# Records of a part. LLVM's time for one block of calls is linear up to about 12,000 records and
# quadratic above; parts of 200 to 2,000 records take the same time.
PART_RECORDS: Final = 1000
_ARGUMENTS: Final = ("ptr noalias %arguments",)


class EntryFunctions:
    """Makes functions of what an `OperationWriter` has emitted."""

    def __init__(self, operations: OperationWriter, name: str) -> None:
        self.operations, self.name = operations, name
        self.w, self.calls = operations.w, operations.calls
        self._parts: list[LlvmFunction] = []
        self._checked: list[bool] = []  # of each part: it may end the program
        self._steps = 0  # calls of Python in the parts so far

    def between_steps(self) -> None:
        """Begin a new part if the current one is large; no value is live here."""
        if self.operations.is_long and len(self.w.records) >= PART_RECORDS:
            self.w.return_(self.w.number(0, I32))
            self._end_part()

    def functions(self, *, has_inner: bool) -> list[LlvmFunction]:
        """Return all functions; the entry is the last.

        has_inner: the program has loops, and its argument pointers are known not to alias. The
        entry passes the table's pointers to an inner function as noalias parameters. LLVM then
        keeps loop-carried values in registers.
        """
        if self._parts:
            self._end_part()
            return [*self._parts, self._caller_of_parts()]
        loads = self._pointer_loads()
        if not has_inner or len(self.calls.pointers) > MOST_POINTERS:
            return [self._function(self.name, loads.records, linkage="")]
        name = self.operations.kernels.fresh_name(f"{self.name}_body")
        inner = self._function(name)._replace(
            parameters=tuple(
                [f"ptr noalias {pointer}" for pointer in self.calls.pointers.values()]
            ),
            attributes=("noinline", "nounwind"),
        )
        pointers: list[Value[Pointer]] = [
            loads.named(pointer, PTR) for pointer in self.calls.pointers.values()
        ]
        status = loads.define("%status", "call", I32, tuple(pointers), f"i32 @{name}")
        loads.return_(status)
        outer = LlvmFunction(
            self.name, _ARGUMENTS, loads.body(), result="i32", linkage="", callees=(name,)
        )
        return [inner, outer]

    def _function(
        self, name: str, first: list[Line] | None = None, linkage: str = "internal"
    ) -> LlvmFunction:
        """Return the function of the emitted records."""
        is_long = self.operations.is_long
        unoptimized = ("optnone", "noinline") if is_long else ()
        # In a list of calls LLVM's optimiser gains nothing.
        is_list = not self.w.has_loop and self.operations.kernels.inlined.isdisjoint(
            self.calls.callees
        )
        return LlvmFunction(
            name,
            _ARGUMENTS,
            self.w.body(first=first or ()),
            result="i32",
            linkage=linkage,
            attributes=("nounwind", *unoptimized),
            optimization_level=OptimizationLevel.FINAL
            if is_long or is_list
            else OptimizationLevel.DEFAULT,
            globals=metadata_definitions(self.w.marks),
            declarations=tuple(self.w.declarations),
            callees=tuple(self.calls.callees),
            has_loop=self.w.has_loop,
        )

    def _pointer_loads(self) -> InOrderBuilder:
        """Return the loads of the table's pointers that are used in the whole function."""
        builder = InOrderBuilder()
        table = builder.named("%arguments", PTR)
        for slot, pointer in self.calls.pointers.items():
            place = (table, builder.named(slot, I64))
            at = builder.define(f"{pointer}.at", "getelementptr", PTR, place, "inbounds ptr")
            builder.define(pointer.name, "load", PTR, (at,), Access(0, INVARIANT))
        return builder

    def _end_part(self) -> None:
        """Make a function of the emitted records, and begin the next."""
        name = self.operations.kernels.fresh_name(f"{self.name}_part{len(self._parts)}")
        self._parts.append(self._function(name, self._pointer_loads().records))
        self._checked.append(len(self.operations.steps) > self._steps)
        self._steps = len(self.operations.steps)
        self.calls.start_function()
        self.w.start_function()

    def _caller_of_parts(self) -> LlvmFunction:
        """Return the entry, which calls the parts until one returns a non-zero status."""
        w = FunctionWriter()
        table = w.named("%arguments", PTR)
        for part, checked in zip(self._parts, self._checked, strict=True):
            status = w.emit("call", I32, (table,), f"i32 @{part.name}")
            if checked:
                failed, good = w.fresh_label("failed"), w.fresh_label("ok")
                w.branch_if(status.differs(0), failed, good)
                w.start_block(failed)
                w.return_(status)
                w.start_block(good)
        w.return_(w.number(0, I32))
        return LlvmFunction(
            self.name,
            _ARGUMENTS,
            w.body(),
            result="i32",
            linkage="",
            callees=tuple([part.name for part in self._parts]),
        )
