"""Builder of native functions on records of the C interface, with the compiler's SSA records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.llvm_module import LlvmFunction
from xla_explorer.compiler.codegen.ir.llvm_text import function_text
from xla_explorer.compiler.codegen.ir.types import I1, I8, I32, I64, PTR, Type
from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.pjrt.layouts import FUNCTIONS

_WORDS = {1: I8, 4: I32, 8: I64}


class NativeFunction:
    """`result name(parameters)`.

    Integers are i64 in between, whatever their width in memory. internal: only this module calls
    it.
    """

    def __init__(
        self,
        name: str,
        parameters: Sequence[Type] = (PTR,),
        result: Type | None = PTR,
        *,
        internal: bool = False,
    ) -> None:
        self.name, self.result, self.internal = name, result, internal
        self.writer = FunctionWriter()
        self.parameters = [Value(self.writer, t, f"%p{k}") for k, t in enumerate(parameters)]
        self.null = Value(self.writer, PTR, "null")
        self._ended = False
        if name in FUNCTIONS:  # of the interface: note the struct_size that the caller passes
            size = self.writer.load(self.parameters[0], I64)
            self.writer.store(
                size, self.element(self.global_address("sizes"), FUNCTIONS.index(name))
            )

    # -- records -----------------------------------------------------------------------------------
    def place(self, record: Any, base: Value, field: str) -> Value:
        """Return the address of a field."""
        return self.writer.address(base, I8, getattr(record, field).offset)

    def get(self, record: Any, base: Value, field: str) -> Value:
        """Load a field as a pointer (code p) or an i64."""
        described = getattr(record, field)
        if dict(record._fields_)[field].__name__ == "c_void_p":
            return self.writer.load(self.place(record, base, field), PTR)
        return self._wide(self.writer.load(self.place(record, base, field), _WORDS[described.size]))

    def set(self, record: Any, base: Value, field: str, value: Value | int) -> None:
        """Write a pointer or an i64 to a field, cut to its width."""
        described = getattr(record, field)
        if isinstance(value, Value) and value.type is PTR:
            stored = value
        else:
            word = _WORDS[described.size]
            wide = self.writer.operand(value, I64)
            stored = wide if word is I64 else self.writer.convert("trunc", wide, word.scalar)
        self.writer.store(stored, self.place(record, base, field))

    def _wide(self, value: Value) -> Value:
        return (
            value
            if value.type is I64
            else self.writer.convert("sext" if value.type is I32 else "zext", value, "i64")
        )

    def element(self, array: Value, index: Value | int) -> Value:
        """Return the address of a word of an array."""
        return self.writer.address(array, I64, index)

    # -- operations --------------------------------------------------------------------------------
    def call(self, function: str, result: Type, *operands: Value) -> Value:
        """Call a function of this module, or of the C library."""
        return self.writer.emit("call", result, operands, f"{result} @{function}")

    def do(self, function: str, *operands: Value) -> None:
        """Call a function without a result."""
        self.writer.effect("call", operands, f"void @{function}")

    def copy(self, target: Value, source: Value, size: Value) -> None:
        """Emit a memcpy."""
        false = self.writer.number(0, I1)
        self.writer.call_effect("llvm.memcpy.p0.p0.i64", target, source, size, false)

    def atomic(self, operation: str, address: Value, value: Value | int) -> Value:
        """Emit an atomic `add`, `sub` or `xchg`, and return the old value."""
        operands = (address, self.writer.operand(value, I64))
        return self.writer.emit(f"atomicrmw {operation}", I64, operands, " acq_rel")

    def exchange(
        self, address: Value, expected: Value | int, value: Value | int
    ) -> tuple[Value, Value]:
        """Compare and exchange a word; return its old value, and whether it was exchanged."""
        w = self.writer
        old, new = w.operand(expected, I64), w.operand(value, I64)
        return w.compare_and_swap(address, old, new, "acq_rel acquire")

    def atomic_load(self, address: Value) -> Value:
        """Load a word that other threads may change meanwhile."""
        return self.writer.emit("load atomic", I64, (address,), " acquire, align 8")

    def atomic_store(self, address: Value, value: Value | int) -> None:
        """Store a word that other threads may read meanwhile."""
        stored = self.writer.operand(value, I64)
        self.writer.effect("store atomic", (stored, address), " release, align 8")

    def as_integer(self, pointer: Value) -> Value:
        """Return an address as an i64."""
        return self.writer.convert("ptrtoint", pointer, "i64")

    def as_pointer(self, number: Value) -> Value:
        """Return an i64 as an address."""
        return self.writer.convert("inttoptr", number, "ptr")

    def global_address(self, name: str) -> Value:
        """Return the address of a global of the module."""
        return self.writer.named(f"@{name}", PTR)

    def call_pointer(self, function: Value, result: Type | None, *operands: Value) -> Value | None:
        """Call a function by its address."""
        if result is None:
            self.writer.effect("call", operands, f"void {function}")
            return None
        return self.writer.emit("call", result, operands, f"{result} {function}")

    # -- control -----------------------------------------------------------------------------------
    def give(self, value: Value | int | None = None) -> None:
        """Emit a return; None: null, or nothing if the function has no result."""
        if self.result is None:
            self.writer.return_()
        else:
            returned = (
                self.null
                if value is None
                else self.writer.operand(value, self.result)
                if isinstance(value, int)
                else value
            )
            self.writer.return_(returned)
        self._ended = True

    @contextmanager
    def when(self, condition: Value) -> Iterator[None]:
        """Emit the block's code under a condition."""
        w = self.writer
        then, end = w.fresh_label("then"), w.fresh_label("end")
        w.branch_if(condition, then, end)
        w.start_block(then)
        yield
        if not self._ended:
            w.branch(end)
        self._ended = False
        w.start_block(end)

    @contextmanager
    def each(self, count: Value, first: Value | int = 0) -> Iterator[Value]:
        """Emit a loop with an index from first up to, but not including, count."""
        with (
            self.when(self.writer.operand(first, I64) < count),
            self.writer.loop(count, first) as index,
        ):
            yield self.writer.named(index, I64)

    @contextmanager
    def repeat(self) -> Iterator[list[Value]]:
        """Emit a loop that runs until the condition holds that the body appends to the list."""
        w = self.writer
        again, end = w.fresh_label("again"), w.fresh_label("done")
        w.branch(again)
        w.start_block(again)
        until: list[Value] = []
        yield until
        w.branch_if(until[0], end, again)
        w.start_block(end)

    def definition(self) -> LlvmFunction:
        """Return the finished function."""
        return LlvmFunction(
            self.name,
            tuple([f"{p.type} {p}" for p in self.parameters]),
            self.writer.body(),
            result=str(self.result or "void"),
            linkage="internal" if self.internal else "",
        )


def module_text(functions: Sequence[NativeFunction], header: str) -> str:
    """Return a module: the header (globals and external declarations), then the functions."""
    declarations = dict.fromkeys([d for f in functions for d in f.writer.declarations])
    definitions = [function_text(f.definition()) for f in functions]
    return "\n".join([header, *[d.text for d in declarations], *definitions])
