"""The state of one run of a program: its table of addresses, its arena, and the evaluator."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from xla_explorer.backends.cpu.aligned_arena import Arena, ArenaBuffer
from xla_explorer.compiler.codegen.program_records import BufferSlice, EvaluatorStep, HostProgram
from xla_explorer.hlo.evaluator import TOKEN_VALUE, EvaluationError, Evaluator, Host, flatten_value
from xla_explorer.hlo.evaluator.devices.foreign_call import ForeignRecord, foreign_function
from xla_explorer.hlo.shape import Shape

if TYPE_CHECKING:
    from xla_explorer.backends.cpu.devices.exchanges import Exchanges

Array = np.ndarray[Any, Any]
ARENA = Arena()


class Activation:
    """The state of one run.

    It is made from the table's entries that all runs share (constants and tables). address: of the
    table. exchanges: the collectives of a run on several devices. failure: exception of an
    evaluator step that ended the last run. arena: None before `take_memory`.
    """

    def __init__(
        self, program: HostProgram, arena_size: int, shared: Sequence[tuple[int, int]], host: Host
    ) -> None:
        self.program, self._arena_size = program, arena_size
        self.table = (ctypes.c_uint64 * program.table_size)()
        self.address = ctypes.addressof(self.table)
        for slot, address in shared:
            self.table[slot] = address
        self.failure: BaseException | None = None
        self._host = host
        self.evaluator = Evaluator(host=host)
        self.exchanges: Exchanges | None = None
        self._views: dict[tuple[BufferSlice, Shape], tuple[int, Array]] = {}
        self._numbers = (ctypes.c_uint32 * 2)()
        if program.device_slot >= 0:
            self.table[program.device_slot] = ctypes.addressof(self._numbers)
        self._callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64)(self._evaluate)
        self.table[program.callback_slot] = ctypes.cast(self._callback, ctypes.c_void_p).value or 0
        self._records: dict[int, ForeignRecord] = {}
        for step in program.evaluator_steps:
            if step.record_slot is not None and step.record_slot not in self._records:
                function = foreign_function(step.instruction)
                assert function is not None, "codegen found it"
                self._records[step.record_slot] = record = function.record(step.instruction)
                self.table[step.record_slot] = record.address
        self.arena: ArenaBuffer | None = None

    def take_memory(self) -> None:
        """Allocate arena and scratch memory, at the first run.

        So a program that is too large for this machine can still be compiled and shown.
        """
        program = self.program
        arena = ARENA.take(max(self._arena_size, 64))
        if program.scratch_bytes:
            self._scratch = ARENA.take(program.scratch_bytes)
            self.table[program.scratch_slot] = self._scratch.address
        self.table[program.arena_slot] = arena.address
        self.arena = arena

    def attach(self, evaluator: Evaluator, exchanges: Exchanges) -> None:
        """Take a place among several devices, for one run."""
        self.evaluator, self.exchanges = evaluator, exchanges
        self._numbers[:] = [evaluator.device.replica, evaluator.device.partition]

    def detach(self) -> None:
        """Become the only device again."""
        self.evaluator, self.exchanges = Evaluator(host=self._host), None
        self._numbers[:] = [0, 0]

    def take_failure(self) -> BaseException | None:
        """Return the exception that ended the last run, and forget it."""
        failure, self.failure = self.failure, None
        return failure

    def _evaluate(self, number: int) -> int:
        """Evaluate step `number` on the buffers; called from native code.

        Errors are kept and end the execution.
        """
        try:
            step: EvaluatorStep = self.program.evaluator_steps[number]
            if step.record_slot is not None:
                self._records[step.record_slot].finish()
                return 0
            if step.is_exchange and self.exchanges is not None and self.exchanges.run(number):
                return 0
            values = []
            for operand, places in zip(step.instruction.operands, step.operands, strict=True):
                value = self._value(operand.shape, iter(places))
                # Another device may read the value while this one goes on.
                values.append(value if self.exchanges is None else _copied(value))
            result = self.evaluator.evaluate_instruction(step.instruction, values)
            shapes = [leaf for _, leaf in step.instruction.shape.leaves() if leaf.is_array]
            for place, shape, leaf in zip(step.results, shapes, flatten_value(result), strict=True):
                if np.shape(leaf) != shape.dimensions:
                    raise EvaluationError(
                        f"%{step.instruction.name} ({step.instruction.opcode.name}) states "
                        f"{shape.text_without_layout}, "
                        f"but on one device its operands give {list(np.shape(leaf))}"
                    )
                self.view(place, shape)[...] = leaf
            return 0
        except BaseException as problem:  # it must not travel through native frames
            self.failure = problem
            return 1

    def view(self, place: BufferSlice, shape: Shape) -> Array:
        """Return the memory of a place as an array in logical order."""
        address = self.table[place.slot] + place.offset
        known = self._views.get((place, shape))
        if known is None or known[0] != address:
            known = self._views[place, shape] = address, self._view_at(address, shape)
        return known[1]

    @staticmethod
    def _view_at(address: int, shape: Shape) -> Array:
        major_to_minor = tuple(reversed(shape.layout.minor_to_major))
        stored = tuple([shape.dimensions[d] for d in major_to_minor])
        raw = (ctypes.c_uint8 * max(shape.byte_size, 1)).from_address(address)
        array: Array = np.frombuffer(
            memoryview(raw), shape.element_type.dtype, shape.element_count
        ).reshape(stored)
        return array.transpose(np.argsort(major_to_minor)) if shape.rank > 1 else array

    def _value(self, shape: Shape, places: Iterator[BufferSlice]) -> Any:
        if shape.is_tuple:
            return tuple([self._value(part, places) for part in shape.tuple_shapes])
        return self.view(next(places), shape) if shape.is_array else TOKEN_VALUE


def _copied(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple([_copied(part) for part in value])
    return value.copy() if isinstance(value, np.ndarray) else value


class NativeCalls:
    """The interface of a program for native callers, without `CpuExecutable.execute`.

    A caller fills a table and calls the entry. entry: `int entry(void *table)`; other than 0 is a
    failure, which the activation explains. The table begins with the addresses of the parameter
    leaves; those of the results follow. parameters: the number of leaves. results: for each result
    leaf that is an array, its bytes, and the parameter leaf whose memory it reuses. written:
    parameter leaves that the program writes into. activate: makes another table, so that callers
    run side by side. calls_python: some steps run in the evaluator or are foreign functions.
    """

    __slots__ = ("activate", "calls_python", "entry", "parameters", "results", "written")

    def __init__(
        self,
        entry: int,
        parameters: int,
        results: Sequence[tuple[int, int | None]],
        written: frozenset[int],
        activate: Callable[[], Activation],
        calls_python: bool,
    ) -> None:
        self.entry, self.parameters, self.results, self.written, self.activate = (
            entry,
            parameters,
            tuple(results),
            written,
            activate,
        )
        self.calls_python = calls_python
