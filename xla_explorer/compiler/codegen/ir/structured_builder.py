"""The builder of functions with structured loops: each operation is hoisted and emitted once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from xla_explorer.compiler.codegen.ir.index_arithmetic import IndexingBuilder
from xla_explorer.compiler.codegen.ir.llvm_text import flattened, record_lines
from xla_explorer.compiler.codegen.ir.records import Detail, If, Instruction, Loop, Record
from xla_explorer.compiler.codegen.ir.types import I64, PTR, Type
from xla_explorer.compiler.codegen.ir.values import Integer, Pointer, Value

# Operations that may trap: a condition around them may exist to prevent the trap.
_MAY_TRAP = frozenset({"load", "udiv", "sdiv", "urem", "srem"})


class _Region:
    __slots__ = ("conditional", "known", "records")

    def __init__(self, records: list[Record], conditional: bool) -> None:
        self.records, self.conditional = records, conditional
        self.known: dict[tuple[object, ...], Value] = {}


class StructuredBuilder(IndexingBuilder):
    r"""Writes one function, with invariant code motion, CSE and strength reduction built in.

    `emit` places an operation without side effects in the outermost open region that has its
    operands, unless that region has the operation already. `counted_index` turns a multiple of a
    loop index into an induction variable. Loops have at least one iteration, so loads of memory
    that the function does not write are hoisted. Operations that may trap stay inside their
    condition; with `speculates` False, all operations do.

    Examples
    --------
    >>> b = StructuredBuilder()
    >>> x = b.named("%x", Type("float"))
    >>> with b.loop(b.index(0), b.index(8), [b.number(0.0, x.type)]) as loop:
    ...     loop.following = [loop.carried[0] + x * x]
    >>> print(*b.lines(), sep="\n")  # doctest: +ELLIPSIS
      %v2 = fmul float %x, %x
      br label %loop.1
    ...
    """

    __slots__ = ("_count", "_indices", "_multiples", "_regions", "_splats", "records", "speculates")

    def __init__(self, speculates: bool = True) -> None:
        super().__init__()
        self.speculates = speculates
        self._multiples: dict[
            str, dict[int, Value[Integer]]
        ] = {}  # of the index of each open loop, by factor
        self._indices: dict[int, Value[Integer]] = {}
        self._splats: dict[tuple[str, int], tuple[Value, _Region]] = {}
        self.records: list[Record] = []
        self._regions = [_Region(self.records, False)]
        self._count = 0

    def lines(self) -> list[str]:
        """Return the body as LLVM IR."""
        return record_lines(flattened(self.records))

    def release(self) -> None:
        """Drop all records.

        Values and builder refer to each other, so only the garbage collector would free them.
        """
        for kept in (self.records, self._regions, self._splats, self._indices):
            kept.clear()

    def _fresh(self) -> int:
        self._count += 1
        return self._count

    # -- records -----------------------------------------------------------------------------------
    def emit(
        self,
        op: str,
        t: Type,
        operands: tuple[Value, ...],
        detail: Detail = "",
        may_trap: bool = False,
    ) -> Value:
        """Emit an operation without side effects in the outermost region that has its operands.

        may_trap: as a load may.
        """
        depth = floor = (
            self._condition_depth() if may_trap or op in _MAY_TRAP or not self.speculates else 0
        )
        names = []
        for operand in operands:
            names.append(operand.name)
            if operand.depth > depth:
                depth = operand.depth
        region = self._regions[depth]
        key = (op, t, detail, *names)
        found = region.known.get(key)
        if found is None and floor and not self.speculates:
            found = next(
                (outer.known[key] for outer in self._regions[:depth] if key in outer.known), None
            )
        if found is None:
            self._count += 1
            found = region.known[key] = Value(self, t, f"%v{self._count}", depth)
            region.records.append(Instruction(found, op, operands, detail, self.origin))
        return found

    def _condition_depth(self) -> int:
        for depth in range(len(self._regions) - 1, 0, -1):
            if self._regions[depth].conditional:
                return depth
        return 0

    def effect(self, op: str, operands: tuple[Value, ...], detail: Detail = "") -> None:
        """Emit an operation with side effects at the insertion point."""
        self._regions[-1].records.append(Instruction(None, op, operands, detail, self.origin))

    def emit_here(
        self, op: str, t: Type, operands: tuple[Value, ...], detail: Detail = ""
    ) -> Value:
        """Emit a load of memory that the function writes, at the insertion point."""
        result = Value(self, t, f"%v{self._fresh()}", len(self._regions) - 1)
        self._regions[-1].records.append(Instruction(result, op, operands, detail, self.origin))
        return result

    def stack_slot(self, t: Type, count: int) -> Value[Pointer]:
        """Return the address of stack memory, aligned to a cache line."""
        result = Value(self, PTR, f"%v{self._fresh()}")
        self.records.append(
            Instruction(result, "alloca", (), f"[{count} x {t}], align 64", self.origin)
        )
        return result

    def splat(self, a: Value, lanes: int) -> Value:
        """Broadcast a scalar to all lanes; an existing broadcast is reused."""
        found = self._splats.get((a.name, lanes))
        if (
            found is not None
            and found[0].depth < len(self._regions)
            and self._regions[found[0].depth] is found[1]
        ):
            return found[0]
        made = super().splat(a, lanes)
        if made is not a and not a.is_constant:
            self._splats[a.name, lanes] = made, self._regions[made.depth]
        return made

    # -- index arithmetic, known not to wrap -------------------------------------------------------
    def index_operation(
        self, op: str, a: Value[Integer] | int, b: Value[Integer] | int, flags: str = ""
    ) -> Value[Integer]:
        """See `IndexArithmetic`."""
        return self.emit(op, I64, (self.named(a, I64), self.named(b, I64)), flags)

    def index(self, number: int) -> Value[Integer]:
        """Return a constant index."""
        found = self._indices.get(number)
        if found is None:
            found = self._indices[number] = Value(self, I64, str(number))
        return found

    def add_index(self, a: Value[Integer], b: Value[Integer] | int) -> Value[Integer]:
        """Return a + b."""
        b = self.index(b) if isinstance(b, int) else b
        if a.name == "0":
            return b
        if b.name == "0":
            return a
        if a.is_constant and b.is_constant:
            return self.index(int(a.name) + int(b.name))
        return self.emit("add", I64, (a, b), "nsw")

    def scale_index(self, a: Value[Integer], factor: int) -> Value[Integer]:
        """Return a * factor."""
        if a.is_constant:
            return self.index(int(a.name) * factor)
        return (
            a
            if factor == 1
            else self.index(0)
            if factor == 0
            else self.emit("mul", I64, (a, self.index(factor)), "nsw")
        )

    def counted_index(self, a: Value[Integer], factor: int) -> Value[Integer]:
        """Return a * factor; a multiple of a loop index becomes an induction variable."""
        multiples = self._multiples.get(a.name)
        if multiples is None or factor in (0, 1):
            return self.scale_index(a, factor)
        if factor not in multiples:
            multiples[factor] = Value(
                self, I64, f"{a.name}.times.{'m' if factor < 0 else ''}{abs(factor)}", a.depth
            )
        return multiples[factor]

    def divide_index(self, a: Value[Integer], by: int) -> tuple[Value[Integer], Value[Integer]]:
        """Return quotient and remainder, for a >= 0."""
        if a.is_constant:
            return self.index(int(a.name) // by), self.index(int(a.name) % by)
        if by == 1:
            return a, self.index(0)
        return self.emit("udiv", I64, (a, self.index(by))), self.emit(
            "urem", I64, (a, self.index(by))
        )

    # -- structure ---------------------------------------------------------------------------------
    @contextmanager
    def loop(
        self,
        start: Value[Integer],
        end: Value[Integer],
        initial: Sequence[Value] = (),
        step: int = 1,
    ) -> Iterator[OpenLoop]:
        """Open a loop with at least one iteration.

        initial: of the loop-carried values; their `results` exist after the loop.
        """
        number, depth = self._fresh(), len(self._regions)
        loop = Loop(Value(self, I64, f"%i{number}", depth), start, end, step)
        carried = [Value(self, v.type, f"%c{number}.{k}", depth) for k, v in enumerate(initial)]
        opened = OpenLoop(loop.index, carried)
        self._regions.append(_Region(loop.body, False))
        multiples = self._multiples[loop.index.name] = {}
        yield opened
        self._regions.pop()
        del self._multiples[loop.index.name]
        loop.carried += list(zip(carried, initial, opened.following, strict=True))
        for factor, value in multiples.items():
            following: Value[Integer] = Value(self, I64, f"{value.name}.next", depth)
            loop.body.append(
                Instruction(following, "add", (value, self.index(step * factor)), "nsw", None)
            )
            loop.carried.append((value, self.scale_index(start, factor), following))
        opened.results = [
            Value(self, v.type, v.name, min(v.depth, depth - 1)) for v in opened.following
        ]
        self._regions[-1].records.append(loop)

    @contextmanager
    def only_if(self, condition: Value[Integer]) -> Iterator[None]:
        """Open a region that executes if the condition is true."""
        branch = If(condition)
        self._regions.append(_Region(branch.body, True))
        yield
        self._regions.pop()
        self._regions[-1].records.append(branch)

    def branches(
        self,
        condition: Value[Integer],
        then: Callable[[], Sequence[Value]],
        otherwise: Callable[[], Sequence[Value]],
    ) -> list[Value]:
        """Emit a conditional with two sides; return the merged values.

        then, otherwise: functions that emit a side and return its values.
        """
        branch, made = If(condition), []
        for records, write in ((branch.body, then), (branch.otherwise, otherwise)):
            self._regions.append(_Region(records, True))
            made.append(write())
            self._regions.pop()
        depth = len(self._regions) - 1
        for x, y in zip(*made, strict=True):
            branch.results.append((Value(self, x.type, f"%v{self._fresh()}", depth), x, y))
        self._regions[-1].records.append(branch)
        return [value for value, _, _ in branch.results]


class OpenLoop:
    """A loop whose body is being written; `FunctionWriter` uses the class too.

    carried: the loop-carried values in the body. following: their values for the next iteration,
    which the body sets; by default they stay the same. results: the values after the loop, which
    only `StructuredBuilder` sets.
    """

    __slots__ = ("carried", "following", "index", "results")

    def __init__(self, index: Value[Integer], carried: list[Value]) -> None:
        self.index, self.carried = index, carried
        self.following: list[Value] = list(carried)
        self.results: list[Value] = []
