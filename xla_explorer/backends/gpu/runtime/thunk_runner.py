"""One run of a GPU program: its thunks, in order or recorded as a CUDA graph.

Source: xla/backends/gpu/runtime/{sequential,while,conditional}_thunk.cc.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from xla_explorer.backends.gpu.device_executor import (
    Array,
    DeviceExecutor,
    GpuExecutionError,
    GraphExecutor,
    GraphRefusedError,
    KernelFaultError,
)
from xla_explorer.backends.gpu.gpu_program import GpuProgram
from xla_explorer.backends.gpu.libraries.shared_objects import LibraryError
from xla_explorer.backends.gpu.runtime.cuda_driver import CudaError
from xla_explorer.backends.gpu.runtime.instrumentation import Instrumentation
from xla_explorer.backends.gpu.runtime.program_memory import ProgramMemory, stored_array
from xla_explorer.backends.gpu.tensor_map import PlacedTensorMap
from xla_explorer.backends.gpu.thunk import (
    CONTROL_FLOW,
    NO_STEP,
    Thunk,
    nesting_depth,
    trips_at_once,
)
from xla_explorer.backends.interfaces import DeviceMemory
from xla_explorer.compiler.buffers import BufferAssignment, BufferSlice
from xla_explorer.compiler.transforms.library_calls.library_call import call_name
from xla_explorer.foundation.warning import warn
from xla_explorer.hlo.evaluator import Evaluator, flatten_value
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape


class GraphRefusedWarning(UserWarning):
    """A program is queued kernel by kernel, because the device does not record it."""


class GpuRun:
    """Thunks on memory.

    `memory.upload`, then `run` any number of times, then `results`; `close` gives the memory back.
    evaluator: computes instructions without a kernel; made at first use, or set before.
    """

    def __init__(
        self,
        module: HloModule,
        assignment: BufferAssignment,
        program: GpuProgram,
        executor: DeviceExecutor,
        loaded: Any,
        instrumentation: Instrumentation | None = None,
        synchronous: bool = False,
    ) -> None:
        self.module, self.program, self.executor = module, program, executor
        self.loaded, self.instrumentation, self.synchronous = loaded, instrumentation, synchronous
        self.memory = ProgramMemory(module, assignment, program, executor)
        self._streams: dict[int, Any] = {0: None}
        self._events: dict[tuple[int, int], Any] = {}  # by thunk and the stream that it waits for
        self._numbers = {
            id(thunk): number
            for number, thunk in enumerate(t for t in program.walk() if t.kind not in NO_STEP)
        }
        self.evaluator: Evaluator | None = None
        self._graphs: dict[int, Any] = {}  # by how often the program runs in it
        self._recording: GraphExecutor | None = None
        self._inside = 0  # loops and branches that are being recorded: what is in them goes to the main stream alone
        self._counters: dict[int, DeviceMemory] = {}  # by loop, of recorded ones
        self._aside: dict[
            tuple[int, int], DeviceMemory
        ] = {}  # by thunk and number of the carried copy
        self._last = "the upload of arguments"
        self._actions: dict[str, Callable[[Thunk], None]] = {
            "kernel": self._kernel,
            "copy": self._copy,
            "library": self._library,
            "wait": lambda thunk: None,
            "evaluator": self._evaluate,
            "while": self._while,
            "conditional": self._conditional,
            "call": self._call,
        }

    def __enter__(self) -> GpuRun:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def results(self) -> list[Array]:
        """Return the result leaves on the host, in logical order.

        GpuExecutionError names the last kernel that was queued.
        """
        with self._naming():
            return self.memory.results()

    def close(self) -> None:
        """Release the memory; a second call does nothing.

        Objects that queued work reads are released when it is done.
        """
        if self.memory.kept:
            self._drain()
        while self._graphs and self.executor.graphs is not None:
            self.executor.graphs.destroy_graph(self._graphs.popitem()[1])
        while self._events:
            self.executor.destroy_event(self._events.popitem()[1])
        for memories in (self._counters, self._aside):
            while memories:
                self.executor.deallocate(memories.popitem()[1])
        self.memory.close()

    def _drain(self) -> None:
        """Wait for queued work. Its errors are raised where results are read."""
        for stream in self._streams.values():
            with contextlib.suppress(GpuExecutionError):
                self.executor.synchronize(stream)

    # -- thunks ------------------------------------------------------------------------------------
    def run(self) -> None:
        """Queue all thunks in order. GpuExecutionError names the kernel and its HLO."""
        with self._naming():
            self._thunks(self.program.thunks)

    @contextlib.contextmanager
    def _naming(self) -> Iterator[None]:
        try:
            yield
        except (CudaError, KernelFaultError, LibraryError) as problem:
            raise self._named(problem) from problem

    def _named(self, problem: CudaError | KernelFaultError | LibraryError) -> GpuExecutionError:
        if isinstance(problem, KernelFaultError):
            finding = problem.findings[0]
            here = f"HLO {self._hlo(finding.origin)}, " if finding.origin is not None else ""
            return GpuExecutionError(f"{finding} ({here}{self._last})", problem.hint)
        certain = "at" if self.synchronous or isinstance(problem, LibraryError) else "at or before"
        where = f"{certain} {self._last}"
        if isinstance(problem, CudaError):
            problem.where = where
        error = GpuExecutionError(
            f"{problem.message}; {where}",
            problem.hint or "compile with synchronous=True to know the kernel",
        )
        error.fatal = problem.fatal
        return error

    def _hlo(self, origin: int) -> str:
        try:
            return f"%{self.module.find(origin).name}"
        except KeyError:
            return f"instruction {origin}"

    def _thunks(self, thunks: Sequence[Thunk]) -> None:
        for thunk in thunks:
            for other in thunk.waits:
                self._wait(thunk, other)
            action = self._actions[thunk.kind]
            if self.instrumentation is not None and thunk.kind not in NO_STEP:
                self.instrumentation.around(
                    self._numbers[id(thunk)], partial(action, thunk), self._stream(thunk.stream)
                )
            else:
                action(thunk)

    def _stream(self, number: int) -> Any:
        """Return the executor's stream for one of the program; None is its main one."""
        if self._inside:
            return None
        if number not in self._streams:
            self._streams[number] = self.executor.side_stream(number)
        return self._streams[number]

    def _wait(self, thunk: Thunk, other: int) -> None:
        """Let later work on a thunk's stream wait for the work queued on another."""
        if other == thunk.stream or self._inside:
            return
        key = (id(thunk), other)
        if key not in self._events:
            self._events[key] = self.executor.create_event()
        self.executor.wait_for(self._stream(thunk.stream), self._stream(other), self._events[key])

    def _kernel(self, thunk: Thunk) -> None:
        kernel = thunk.kernel
        assert kernel is not None
        self._last = f"kernel {kernel.name} of %{thunk.instruction.name}"
        addresses = [self.memory.address(place) for place in thunk.arguments]
        if kernel.scratch:
            addresses.append(self.memory.scratch[thunk.stream].address)
        maps = [PlacedTensorMap(one, addresses[one.parameter]) for one in kernel.tensor_maps]
        arguments: list[int | PlacedTensorMap] = [*addresses, *maps]
        blocks, threads, shared = (
            kernel.launch.blocks,
            kernel.launch.threads_per_block,
            kernel.dynamic_shared_bytes,
        )
        self.executor.launch_kernel(
            self.loaded, kernel.name, blocks, threads, arguments, shared, self._stream(thunk.stream)
        )
        self._wait_if_synchronous(thunk)

    def _copy(self, thunk: Thunk) -> None:
        source, target = thunk.arguments
        self._last = f"the copy of %{thunk.instruction.name}"
        self.executor.copy_on_device(
            self.memory.address(source),
            self.memory.address(target),
            target.size,
            self._stream(thunk.stream),
        )

    def _library(self, thunk: Thunk) -> None:
        call = thunk.call
        assert call is not None
        self._last = f"{call_name(call)} of %{thunk.instruction.name}"
        libraries = self.executor.libraries
        if libraries is None:
            self._evaluate(thunk)
            return
        *operands, result = [self.memory.address(place) for place in thunk.arguments]
        libraries.run(call, operands, result, self._stream(thunk.stream))
        self._wait_if_synchronous(thunk)

    def _wait_if_synchronous(self, thunk: Thunk) -> None:
        if self.synchronous:
            self.executor.synchronize(self._stream(thunk.stream))

    def _evaluate(self, thunk: Thunk) -> None:
        i = thunk.instruction
        self._last = f"the evaluator's %{i.name}"
        places = iter(thunk.arguments)
        if self.evaluator is None:
            self.evaluator = Evaluator()
        result = self.evaluator.evaluate_instruction(
            i, [self._value(o.shape, places) for o in i.operands]
        )
        shapes = [leaf for _, leaf in i.shape.leaves() if leaf.is_array]
        for place, shape, leaf in zip(places, shapes, flatten_value(result), strict=True):
            stored = stored_array(
                np.asarray(leaf, shape.element_type.dtype).reshape(shape.dimensions), shape
            )
            self.memory.keep(stored)
            self.executor.write(self.memory.address(place), stored)

    def _value(self, shape: Shape, places: Any) -> Any:
        if shape.is_tuple:
            return tuple([self._value(part, places) for part in shape.tuple_shapes])
        return self.memory.fetch(next(places), shape) if shape.is_array else None

    def _copy_carried(self, thunk: Thunk, body: int) -> None:
        """Copy results of a body to the state.

        A copy that would overwrite the source of a later one goes through other memory.
        """
        pairs = thunk.carried_copies[body]
        aside: list[tuple[DeviceMemory, BufferSlice]] = []
        for number, (source, target) in enumerate(pairs):
            if any(target.overlaps(later) for later, _ in pairs[number + 1 :]):
                memory = self._aside.get((id(pairs), number))
                if memory is None:  # kept until the run is closed: a recorded graph has its address
                    memory = self._aside[id(pairs), number] = self.executor.allocate(target.size)
                self.executor.copy_on_device(
                    self.memory.address(source), memory.address, target.size
                )
                aside.append((memory, target))
            else:
                self.executor.copy_on_device(
                    self.memory.address(source), self.memory.address(target), target.size
                )
        for memory, target in aside:
            self.executor.copy_on_device(memory.address, self.memory.address(target), target.size)

    def _scalar(self, place: BufferSlice, dtype: Any) -> int:
        found = np.empty(1, dtype)
        self.executor.read(self.memory.address(place), found)
        return int(found[0])

    def _while(self, thunk: Thunk) -> None:
        condition, predicate = partial(self._thunks, thunk.bodies[0]), thunk.arguments[0]
        graphs = self._recording
        if (
            thunk.kernel is not None
            and self.instrumentation is None
            and not self.executor.facts.emulated
        ):  # those show each kernel
            self._kernel(thunk)
        elif thunk.trips is not None:
            self._trips(thunk, thunk.trips)
        elif graphs is not None:
            graphs.record_while(
                self.memory.address(predicate),
                partial(self._within, condition),
                partial(self._within, self._body, thunk, 1),
            )
        else:
            condition()
            while self._scalar(predicate, np.uint8):
                self._body(thunk, 1)
                condition()

    def _trips(self, thunk: Thunk, trips: int) -> None:
        """Queue the body of a loop with a known trip count.

        It is repeated, or recorded as a loop of a graph if repetition would need too many nodes.
        """
        graphs, inside = self._recording, trips
        if graphs is not None and (at_once := trips_at_once(thunk)) < trips:
            counter = self._counters[id(thunk)]
            graphs.record_trips(
                trips // at_once, counter, partial(self._within, self._repeat, thunk, at_once)
            )
            inside = trips % at_once
        self._repeat(thunk, inside)

    def _repeat(self, thunk: Thunk, trips: int) -> None:
        for _ in range(trips):
            self._body(thunk, 1)

    def _body(self, thunk: Thunk, number: int) -> None:
        """Run one of the computations inside, then its carried copies."""
        self._thunks(thunk.bodies[number])
        self._copy_carried(thunk, number)

    def _within(self, action: Callable[..., None], *arguments: Any) -> None:
        """Run an action inside a loop or branch that is being recorded."""
        self._inside += 1
        try:
            action(*arguments)
        finally:
            self._inside -= 1

    def _conditional(self, thunk: Thunk) -> None:
        is_predicate = thunk.instruction.operands[0].shape.element_type.is_pred
        if self._recording is not None:
            branches = [
                partial(self._within, self._body, thunk, number)
                for number in range(len(thunk.bodies))
            ]
            self._recording.record_branches(
                self.memory.address(thunk.arguments[0]), is_predicate, branches
            )
            return
        if is_predicate:
            taken = 0 if self._scalar(thunk.arguments[0], np.uint8) else 1
        else:
            index, count = self._scalar(thunk.arguments[0], np.int32), len(thunk.bodies)
            taken = index if 0 <= index < count else count - 1
        self._body(thunk, taken)

    def _call(self, thunk: Thunk) -> None:
        self._body(thunk, 0)

    # -- graphs ------------------------------------------------------------------------------------
    def launcher(self, times: int = 1) -> Callable[[], None]:
        """Return a function that queues the program so many times.

        It is a CUDA graph if the host computes nothing, else `run`. If the device refuses to record
        the program, a GraphRefusedWarning has the reason, and it is `run` as well.
        """
        graphs = self.executor.graphs
        if graphs is None or not self.program.can_be_graph:
            return partial(self._repeated, times)
        graph = self._graphs.get(times)
        if graph is None:
            with self._naming():
                self._rehearse()
            self._recording = graphs
            try:
                graph = graphs.record(
                    partial(self._repeated, times), nesting_depth(self.program.thunks)
                )
            except GraphRefusedError as problem:
                warn(
                    f"{self.module.name} runs without a CUDA graph: {problem.message}",
                    GraphRefusedWarning,
                )
                return partial(self._repeated, times)
            finally:
                self._recording = None
            self._graphs[times] = graph
        return partial(graphs.launch_graph, graph)

    def _repeated(self, times: int) -> None:
        for _ in range(times):
            self.run()

    def _rehearse(self) -> None:
        """Run every thunk once, also those of loops and branches, before a recording.

        Objects that are created on first use are created now, because none may be created during a
        recording. The results are meaningless.
        """
        for thunk in self.program.walk():
            if thunk.kind not in CONTROL_FLOW:
                self._thunks((thunk,))
            elif thunk.kind == "while" and id(thunk) not in self._counters:
                self._counters[id(thunk)] = self.executor.allocate(8)
            for number in range(len(thunk.bodies)):
                self._copy_carried(thunk, number)
        self.executor.synchronize()
