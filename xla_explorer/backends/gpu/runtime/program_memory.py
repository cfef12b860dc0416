"""Device memory of one run of a GPU program: a buffer per allocation, and copies of values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_explorer.backends.gpu.device_executor import Array, DeviceExecutor, GpuExecutionError
from xla_explorer.backends.gpu.gpu_program import GpuProgram
from xla_explorer.backends.gpu.runtime.device_array import DeviceArray
from xla_explorer.backends.interfaces import DeviceMemory
from xla_explorer.compiler.buffers import Allocation, BufferAssignment, BufferSlice
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape

_KERNEL_ALIGNMENT = 16  # that kernels take for granted of their arguments


class ProgramMemory:
    """The memory of a program's allocations.

    Call `upload`, then `results` any number of times; `close` releases it.

    Attributes
    ----------
    scratch : dict of int to DeviceMemory
        By stream, since kernels of different streams run at once.
    kept : list
        Objects that queued work reads: copied host arrays, and owners of arguments' memory.
    """

    def __init__(
        self,
        module: HloModule,
        assignment: BufferAssignment,
        program: GpuProgram,
        executor: DeviceExecutor,
    ) -> None:
        self.module, self.assignment = module, assignment
        self.program, self.executor = program, executor
        self.scratch: dict[int, DeviceMemory] = {}
        self.kept: list[Any] = []
        self._memory: dict[int, DeviceMemory] = {}
        self._address: dict[int, int] = {}

    def upload(self, arguments: Sequence[Array | int]) -> None:
        """Allocate all memory; fill parameters with host arrays, or use them in place (an address).

        All memory is allocated before anything runs: the device's MemoryError has the program's
        needs.
        """
        parameters = self._by_parameter(arguments)
        streams = (
            {thunk.stream for thunk in self.program.walk()} if self.program.scratch_bytes else ()
        )
        written = self._written_parameters()
        filled: list[tuple[Allocation, Array | int]] = []
        try:
            for number in streams:
                self.scratch[number] = self.executor.allocate_named(
                    self.program.scratch_bytes, "scratch"
                )
            for allocation in self.assignment.allocations:
                given: Array | int | None = None
                if allocation.kind == "parameter":
                    given = parameters[allocation.number, allocation.index]
                    if (
                        isinstance(given, int)
                        and allocation.id not in written
                        and given % _KERNEL_ALIGNMENT == 0
                    ):
                        self._address[allocation.id] = given
                        continue
                elif allocation.kind == "constant":
                    assert allocation.instruction is not None
                    given = stored_array(
                        allocation.instruction.literal.array, allocation.instruction.shape
                    )
                memory = self.executor.allocate_named(allocation.size, allocation.name)
                self._memory[allocation.id], self._address[allocation.id] = memory, memory.address
                if given is not None:
                    filled.append((allocation, given))
        except MemoryError as problem:
            raise self._too_large(problem, len(streams)) from problem
        for allocation, given in filled:
            if isinstance(given, int):
                self.executor.copy_on_device(given, self._address[allocation.id], allocation.size)
            else:
                self.kept.append(given)
                self.executor.write(self._address[allocation.id], given)

    def _too_large(self, problem: MemoryError, streams: int) -> MemoryError:
        """Return the error with the program's total memory and its largest allocation."""
        if not isinstance(problem, GpuExecutionError):
            return problem
        sizes = {allocation.name: allocation.size for allocation in self.assignment.allocations}
        if streams:
            sizes["scratch"] = streams * self.program.scratch_bytes
        largest = max(sizes, key=lambda name: sizes[name])
        needs = f"the program needs {sum(sizes.values()):,} bytes, {sizes[largest]:,} for {largest}"
        return type(problem)(f"{problem.message}; {needs}", problem.hint)

    def refill(self, arguments: Sequence[Array]) -> None:
        """Copy other arguments from the host into the memory that `upload` chose.

        The arrays must live until the results are on the host.
        """
        parameters = self._by_parameter(arguments)
        for allocation in self.assignment.allocations:
            if allocation.kind == "parameter":
                self.executor.write(
                    self._address[allocation.id], parameters[allocation.number, allocation.index]
                )

    def _by_parameter(self, arguments: Sequence[Any]) -> dict[tuple[int, tuple[int, ...]], Any]:
        """Return argument leaves by number of the parameter and index in its shape."""
        rest = iter(arguments)
        parameters = self.module.entry.parameters()
        return {
            (p.payload, index): next(rest)
            for p in parameters
            for index, leaf in p.shape.leaves()
            if leaf.is_array
        }

    def keep(self, owner: Any) -> None:
        """Hold something until the run is closed: memory of its arguments is its."""
        self.kept.append(owner)

    def _written_parameters(self) -> set[int]:
        """Return the ids of parameter allocations that results are written into.

        They must not be the caller's memory.
        """
        return {
            place.allocation.id
            for _, place in self.assignment.output_slices
            if place.allocation.kind == "parameter"
        }

    def address(self, place: BufferSlice) -> int:
        """Return the address of a slice."""
        return self._address[place.allocation.id] + place.offset

    def results(self) -> list[Array]:
        """Return the result leaves on the host, in logical order."""
        return [self.fetch(place, shape) for place, shape in self._outputs()]

    def results_on_device(self) -> list[DeviceArray]:
        """Return the result leaves in place, or copies of those without their own allocation.

        They own their memory.
        """
        arrays, taken = [], set()
        for place, shape in self._outputs():
            allocation = place.allocation
            if allocation.kind == "output" and not place.offset and allocation.id not in taken:
                taken.add(allocation.id)
                memory = self._memory.pop(allocation.id)
            else:
                memory = self.executor.allocate(shape.byte_size)
                self.executor.copy_on_device(self.address(place), memory.address, shape.byte_size)
            arrays.append(DeviceArray(self.executor, memory, shape))
        self.executor.synchronize()
        return arrays

    def _outputs(self) -> list[tuple[BufferSlice, Shape]]:
        shapes = [leaf for _, leaf in self.module.entry.root.shape.leaves() if leaf.is_array]
        return [
            (place, shape)
            for (_, place), shape in zip(self.assignment.output_slices, shapes, strict=True)
        ]

    def fetch(self, place: BufferSlice, shape: Shape) -> Array:
        """Return the value of a slice on the host, in logical order."""
        major_to_minor = tuple(reversed(shape.layout.minor_to_major))
        stored = np.empty([shape.dimensions[d] for d in major_to_minor], shape.element_type.dtype)
        self.executor.read(self.address(place), stored)
        return stored.transpose(np.argsort(major_to_minor)) if shape.rank > 1 else stored

    def close(self) -> None:
        """Give the memory back, once no queued work uses it. A second time does nothing."""
        for memories in (self.scratch, self._memory):
            while memories:
                self.executor.deallocate(memories.popitem()[1])
        self.kept.clear()


def stored_array(array: Array, shape: Shape) -> Array:
    """Return a logical array in the order of its memory."""
    if shape.rank > 1 and not shape.layout.is_default:
        array = array.transpose(tuple(reversed(shape.layout.minor_to_major)))
    return np.ascontiguousarray(array)
