"""A program with its buffers: arrays in, one launch, arrays out; profiles are in cycles."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from xla_explorer.plugin import (
    BufferAssignment,
    DeviceMemory,
    HloModule,
    KernelTiming,
    LinearTransferManager,
    ProfileResult,
    literal_from_array,
)
from xla_explorer_npu.assembler import encode
from xla_explorer_npu.lowering.program import NpuProgram
from xla_explorer_npu.lowering.writer import ARENA, CONSTANTS, FIRST_BUFFER, WORKSPACE

if TYPE_CHECKING:
    from xla_explorer_npu.npu_platform import NpuStreamExecutor
    from xla_explorer_npu.timeline import Timeline

Array = np.ndarray[Any, Any]


class NpuExecutable:
    """See `backends.interfaces.Executable`.

    timeline: of the last run, None before the first. code: the program as bytes.
    """

    def __init__(
        self,
        module: HloModule,
        assignment: BufferAssignment,
        program: NpuProgram,
        executor: NpuStreamExecutor,
    ) -> None:
        self.module, self.assignment, self.program = module, assignment, program
        self.steps = program.steps
        self.timeline: Timeline | None = None
        self.code = encode(program.instructions)
        self._executor = executor
        self._loaded = executor.load(self.code, ["main"])
        self._pool = self._constant_pool()

    def _constant_pool(self) -> bytes:
        pool = bytearray(self.program.pool_bytes)
        for allocation in self.assignment.allocations:
            if allocation.kind == "constant" and allocation.instruction is not None:
                literal, at = allocation.instruction.literal, self.program.constants[allocation.id]
                order = tuple(reversed(literal.shape.layout.minor_to_major))
                raw = np.ascontiguousarray(literal.array.transpose(order)).tobytes()
                pool[at : at + len(raw)] = raw
        return bytes(pool)

    def execute(self, arrays: list[Array]) -> list[Array]:
        """Run the program on parameter leaves and return the result leaves.

        Everything is copied in and out, so arguments and results are the caller's own.
        """
        with self._executor.lock:
            return self._execute(arrays)

    def _execute(self, arrays: list[Array]) -> list[Array]:
        executor, manager, program = self._executor, LinearTransferManager(), self.program
        memory: dict[int, DeviceMemory] = {
            ARENA: executor.allocate(self.assignment.arena_size),
            CONSTANTS: executor.allocate(len(self._pool)),
            WORKSPACE: executor.allocate(program.workspace_bytes),
        }
        try:
            executor.copy_to_device(memory[CONSTANTS], self._pool)
            leaves = [
                (int(p.payload), index, leaf)
                for p in self.module.entry.parameters()
                for index, leaf in p.shape.leaves()
            ]
            given = {
                (number, index): (array, leaf)
                for (number, index, leaf), array in zip(leaves, arrays, strict=True)
            }
            for allocation in self.assignment.allocations:
                base = program.bases.get(allocation.id, CONSTANTS)
                if base < FIRST_BUFFER:
                    continue
                if allocation.kind == "parameter" and allocation.size:
                    array, leaf = given[allocation.number, allocation.index]
                    (memory[base],) = manager.transfer_literal_to_device(
                        executor, literal_from_array(array, leaf)
                    )
                else:
                    memory[base] = executor.allocate(allocation.size)
            executor.launch(self._loaded, "main", [memory[k].address for k in range(len(memory))])
            executor.synchronize()
            self._keep_timeline()
            return self._results(memory)
        finally:
            for piece in memory.values():
                executor.deallocate(piece)

    def _keep_timeline(self) -> None:
        self.timeline = self._executor.timeline
        assert self.timeline is not None
        names = {i.id: f"%{i.name}" for i in self.module.instructions()}
        self.timeline.name_instructions([i.origin for i in self.program.instructions], names)

    def _results(self, memory: dict[int, DeviceMemory]) -> list[Array]:
        results = []
        for index, where in self.assignment.output_slices:
            shape = self.module.entry.root.shape.sub_shape(index)
            if not shape.is_array:
                continue
            allocation = where.allocation
            offset = where.offset + self.program.constants.get(allocation.id, 0)
            source = memory[self.program.bases.get(allocation.id, CONSTANTS)]
            piece = DeviceMemory(source.address + offset, shape.byte_size)
            order = tuple(reversed(shape.layout.minor_to_major))
            raw = np.frombuffer(
                self._executor.copy_from_device(piece, shape.byte_size), shape.element_type.dtype
            )
            stored = raw.reshape([shape.dimensions[d] for d in order]).transpose(
                np.argsort(order) if order else ()
            )
            results.append(np.array(stored, order="C"))
        return results

    def profile(self, arrays: list[Array], repeats: int = 1) -> ProfileResult:
        """Return one measurement in simulated time, which is the same in every run."""
        self.execute(arrays)
        timeline = self.timeline
        assert timeline is not None
        scale = 1e-3 / timeline.architecture.clock_ghz
        spans: dict[int, list[int]] = defaultdict(lambda: [1 << 62, 0])
        origins = [i.origin for i in self.program.instructions]
        for number, _, start, end, _ in timeline.events:
            origin = origins[number]
            if origin is not None:
                span = spans[origin]
                span[0], span[1] = min(span[0], start), max(span[1], end)
        rows = [
            KernelTiming(
                step, 1, ((spans[step.instruction][1] - spans[step.instruction][0]) * scale,)
            )
            for step in self.steps
            if step.instruction in spans
        ]
        return ProfileResult((timeline.cycles * scale,), tuple(rows), 0.0)
