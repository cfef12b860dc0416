"""The machine: runs a program on memories, and records the cycles of each unit.

Values follow program order. Times follow a scoreboard: an instruction starts when its unit is free,
its inputs are written, and its outputs are no longer being read. Units run in parallel, so double
buffering pays, and shows in the timeline.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_explorer_npu.architecture import NPU, Architecture
from xla_explorer_npu.instruction_set import NO_INDEX, OPERATIONS, Address, Instruction
from xla_explorer_npu.timeline import Timeline
from xla_explorer_npu.vector_functions import COMPARE, DTYPES, FUNCTIONS, convert, fold

Array = np.ndarray[Any, Any]
_BLOCK = {"d": 4096, "s": 256, "a": 256}
ALIGNMENT = _BLOCK["d"]
"""Alignment of buffers in device memory. Two in one block would wait for each other."""


class NpuFaultError(RuntimeError):
    """A program fault: an address outside its memory, or an instruction that never ends."""


class Scoreboard:
    """Times of the last write and of the last read of each block of a memory."""

    def __init__(self, size: int, block: int) -> None:
        self.block = block
        self.written = np.zeros(size // block + 2, np.int64)
        self.read = np.zeros(size // block + 2, np.int64)

    def span(self, low: int, high: int) -> slice:
        """Return the blocks of a range of addresses."""
        return slice(low // self.block, (max(high, low + 1) - 1) // self.block + 1)


class Machine:
    """One device: memories that last, programs that come and go."""

    def __init__(self, architecture: Architecture = NPU) -> None:
        self.architecture = architecture
        self.device = np.zeros(1 << 20, np.uint8)
        self.scratchpad = np.zeros(architecture.scratchpad_bytes, np.uint8)
        self.accumulators = np.zeros(architecture.accumulator_bytes, np.uint8)

    def grow(self, size: int) -> None:
        """Grow device memory to at least `size` bytes."""
        if size > len(self.device):
            grown = np.zeros(1 << (size - 1).bit_length(), np.uint8)
            grown[: len(self.device)] = self.device
            self.device = grown

    def run(
        self,
        program: Sequence[Instruction],
        bases: Sequence[int],
        most_instructions: int = 20_000_000,
    ) -> Timeline:
        """Run to the halt.

        bases: contents of the base registers. NpuFaultError has the place of the fault.
        """
        with np.errstate(all="ignore"):
            return _Run(self, program, bases).go(most_instructions)


class _Run:
    def __init__(
        self, machine: Machine, program: Sequence[Instruction], bases: Sequence[int]
    ) -> None:
        self.machine, self.program, self.bases = machine, program, bases
        self.memory = {"d": machine.device, "s": machine.scratchpad, "a": machine.accumulators}
        self.boards = {
            space: Scoreboard(len(memory), _BLOCK[space]) for space, memory in self.memory.items()
        }
        self.index = [0] * 8
        self.pc = 0
        self.free: dict[str, int] = {}
        self.issued = 0
        self.timeline = Timeline(machine.architecture)
        self.reads: list[tuple[str, int, int]] = []
        self.writes: list[tuple[str, int, int]] = []
        self.work = 0
        self.handlers = {
            name: getattr(
                self, "_" + name.split(".")[0] + "_" + name.split(".")[1].replace("-", "_"), None
            )
            for name in OPERATIONS
        }

    def go(self, most: int) -> Timeline:
        program = self.program
        for _ in range(most):
            at = self.pc
            i = program[at]
            if i.operation == "ctl.halt":
                self.timeline.finish(max(self.free.values(), default=0))
                return self.timeline
            unit, self.work = OPERATIONS[i.operation].unit, 0
            self.reads, self.writes = [], []
            self.pc = at + 1
            try:
                cycles = self._execute(i, unit)
            except (ValueError, TypeError, IndexError) as problem:
                raise NpuFaultError(
                    f"instruction {at} ({i.operation}.{i.element_type} "
                    f"{' '.join(map(str, i.operands))}): {problem}"
                ) from problem
            self._time(at, f"dma{i.operands[-1]}" if unit == "dma" else unit, cycles)
        raise NpuFaultError(f"no halt after {most} instructions: a loop that does not end")

    def _time(self, at: int, unit: str, cycles: int) -> None:
        start = max(self.free.get(unit, 0), self.issued)
        for space, low, high in self.reads:
            board = self.boards[space]
            start = max(start, int(board.written[board.span(low, high)].max()))
        for space, low, high in self.writes:
            board = self.boards[space]
            span = board.span(low, high)
            start = max(start, int(board.written[span].max()), int(board.read[span].max()))
        end = start + cycles
        for space, low, high in self.reads:
            board = self.boards[space]
            span = board.span(low, high)
            np.maximum(board.read[span], end, out=board.read[span])
        for space, low, high in self.writes:
            board = self.boards[space]
            board.written[board.span(low, high)] = end
        self.free[unit] = end
        # The sequencer issues an instruction a cycle; control instructions stall it until they are
        # resolved.
        self.issued = end if unit == "ctl" else self.issued + 1
        self.timeline.add(at, unit, start, end, self.work)

    # -- memory ------------------------------------------------------------------------------------
    def _place(self, address: Address) -> int:
        at = address.offset + (self.bases[address.base] if address.space == "d" else 0)
        return at + self.index[address.register] if address.register != NO_INDEX else at

    def _view(
        self,
        address: Address,
        sizes: tuple[int, ...],
        steps: tuple[int, ...] | None,
        dtype: np.dtype[Any],
        write: bool,
    ) -> Array:
        at, item = self._place(address), dtype.itemsize
        if steps is None:
            low, high = at, at + math.prod(sizes) * item
            strides = None
        else:
            low = at + sum([min(0, (n - 1) * s) for n, s in zip(sizes, steps, strict=True)]) * item
            high = (
                at
                + (sum([max(0, (n - 1) * s) for n, s in zip(sizes, steps, strict=True)]) + 1) * item
            )
            strides = tuple([s * item for s in steps])
        if low < 0:
            raise ValueError(f"{address} is below the memory")
        (self.writes if write else self.reads).append((address.space, low, high))
        return np.ndarray(sizes, dtype, self.memory[address.space], at, strides)

    def _line(self, address: Address, n: int, element_type: str, write: bool = False) -> Array:
        return self._view(address, (n,), None, DTYPES[element_type], write)

    # -- instructions: each returns its cycles -----------------------------------------------------
    def _execute(self, i: Instruction, unit: str) -> int:
        handler = self.handlers[i.operation]
        if handler is not None:
            return int(handler(i, *i.operands))
        return self._vector(i)

    def _lanes(self, n: int, element_type: str, cycles: int = 1) -> int:
        self.work = n
        per_cycle = self.machine.architecture.lanes * 4 // max(DTYPES[element_type].itemsize, 2)
        return 4 + cycles * -(-n // per_cycle)

    def _vector(self, i: Instruction) -> int:
        name = i.operation.removeprefix("vec.")
        way, _, combiner = name.partition("-")
        if way in ("reduce", "accumulate"):
            to, a, rows, n = i.operands
            dtype, axis = DTYPES[i.element_type], 1 if way == "reduce" else 0
            matrix, result = (
                self._view(a, (rows, n), None, dtype, False),
                self._view(to, ((rows, n)[1 - axis],), None, dtype, True),
            )
            self.reads.append(self.writes[-1])
            result[:] = FUNCTIONS[combiner](result, fold(combiner, matrix, axis))
            return self._lanes(rows * n, i.element_type)
        operands = i.operands
        n = operands[-1]
        sources = [self._line(a, n, i.element_type) for a in operands[1:-1]]
        if name == "select":
            sources[0] = self._line(operands[1], n, "pred")
        value = FUNCTIONS[name](*sources)
        self._line(operands[0], n, "pred" if name == "is-finite" else i.element_type, True)[:] = (
            value
        )
        return self._lanes(n, i.element_type, OPERATIONS[i.operation].cycles)

    def _vec_compare(
        self, i: Instruction, to: Address, a: Address, b: Address, n: int, kind: str
    ) -> int:
        left, right = self._line(a, n, i.element_type), self._line(b, n, i.element_type)
        self._line(to, n, "pred", True)[:] = COMPARE[kind](left, right)
        return self._lanes(n, i.element_type)

    def _vec_convert(self, i: Instruction, to: Address, a: Address, n: int, source: str) -> int:
        self._line(to, n, i.element_type, True)[:] = convert(
            self._line(a, n, source), DTYPES[i.element_type]
        )
        return self._lanes(n, i.element_type)

    def _vec_bits(self, i: Instruction, to: Address, a: Address, n: int, source: str) -> int:
        self._line(to, n, i.element_type, True)[:] = self._line(a, n, source).view(
            DTYPES[i.element_type]
        )
        return self._lanes(n, i.element_type)

    def _vec_fill(self, i: Instruction, to: Address, bits: int, n: int) -> int:
        self._line(to, n, i.element_type, True)[:] = value_of_bits(bits, i.element_type)
        return self._lanes(n, i.element_type)

    def _vec_iota(
        self, i: Instruction, to: Address, size: tuple[int, ...], axis: int, start: int
    ) -> int:
        dtype = DTYPES[i.element_type]
        shape = [1] * len(size)
        shape[axis] = size[axis]
        self._view(to, size, None, dtype, True)[:] = (
            np.arange(start, start + size[axis]).astype(dtype).reshape(shape)
        )
        return self._lanes(math.prod(size), i.element_type)

    def _mat_multiply(
        self, i: Instruction, acc: Address, lhs: Address, rhs: Address, *numbers: int
    ) -> int:
        m, k, n, transposed, clear = numbers
        dtype = DTYPES[i.element_type]
        wide = np.dtype(np.int32) if dtype.kind in "iu" else np.dtype(np.float32)
        result = self._view(acc, (m, n), None, wide, True)
        if not clear:
            self.reads.append(self.writes[-1])
        left = self._view(lhs, (k, m) if transposed & 1 else (m, k), None, dtype, False)
        right = self._view(rhs, (n, k) if transposed & 2 else (k, n), None, dtype, False)
        product = (left.T if transposed & 1 else left).astype(wide) @ (
            right.T if transposed & 2 else right
        ).astype(wide)
        if clear:
            result[:] = product
        else:
            result += product
        self.work = m * k * n
        side = self.machine.architecture.array_size
        # Weights stay in the array while the rows stream through; the next weights shift in after
        # them.
        return -(-k // side) * -(-n // side) * max(m, side) + 2 * side

    def _mat_store(self, i: Instruction, to: Address, acc: Address, n: int) -> int:
        dtype = DTYPES[i.element_type]
        wide = "s32" if dtype.kind in "iu" else "f32"
        self._line(to, n, i.element_type, True)[:] = self._line(acc, n, wide).astype(dtype)
        return self._lanes(n, i.element_type)

    def _dma_copy(
        self,
        i: Instruction,
        to: Address,
        source: Address,
        size: tuple[int, ...],
        to_step: tuple[int, ...],
        from_step: tuple[int, ...],
        queue: int,
    ) -> int:
        dtype = DTYPES[i.element_type]
        self._view(to, size, to_step, dtype, True)[...] = self._view(
            source, size, from_step, dtype, False
        )
        return self._transfer(size, to_step, from_step, dtype.itemsize)

    def _dma_fill(
        self,
        i: Instruction,
        to: Address,
        size: tuple[int, ...],
        to_step: tuple[int, ...],
        bits: int,
        queue: int,
    ) -> int:
        dtype = DTYPES[i.element_type]
        self._view(to, size, to_step, dtype, True)[...] = value_of_bits(bits, i.element_type)
        return self._transfer(size, to_step, None, dtype.itemsize)

    def _transfer(
        self,
        size: tuple[int, ...],
        to_step: tuple[int, ...],
        from_step: tuple[int, ...] | None,
        item: int,
    ) -> int:
        self.work = math.prod(size) * item
        return self.machine.architecture.transfer_cycles(size, to_step, from_step, item)

    def _scalar(self, address: Address, element_type: str) -> int:
        return int(self._line(address, 1, element_type)[0])

    def _ctl_index(
        self, i: Instruction, reg: int, source: Address, limit: int, step: int, clear: int
    ) -> int:
        value = min(max(self._scalar(source, i.element_type), 0), limit) * step
        self.index[reg] = value + (0 if clear else self.index[reg])
        return 2

    def _ctl_jump(self, i: Instruction, target: int) -> int:
        self.pc = target
        return 1

    def _ctl_branch_unless_equal(
        self, i: Instruction, source: Address, value: int, target: int
    ) -> int:
        if self._scalar(source, i.element_type) != value:
            self.pc = target
        return 2


def bits_of_value(value: Any, element_type: str) -> int:
    """Return the bit pattern of one element, as an integer."""
    return int.from_bytes(np.asarray(value, DTYPES[element_type]).tobytes(), "little", signed=True)


def value_of_bits(bits: int, element_type: str) -> Any:
    """Return the element of a bit pattern."""
    dtype = DTYPES[element_type]
    return np.frombuffer(bits.to_bytes(8, "little", signed=True), dtype, 1)[0]
