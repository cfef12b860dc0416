"""CUDA graphs of queued work, with loops and branches that the device decides.

A loop or a branch is a conditional node: its graph runs while a handle's value is not zero. The
kernels below set the value on the device. Source: CUDA Driver API, "Graph Management"; CUDA C++
Programming Guide, "Conditional Graph Nodes".
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from xla_explorer.backends.gpu.device_executor import GraphRefusedError
from xla_explorer.backends.gpu.runtime.cuda_driver import CudaDriver, CudaError
from xla_explorer.backends.interfaces import DeviceMemory

# Answers to work that cannot be recorded (CUDA Driver API, CUresult: 900 to 909), by the beginning
# of their names.
_NOT_RECORDED = "CUDA_ERROR_STREAM_CAPTURE_"
_EDGE_DATA_SINCE = (
    13000  # version of the binding from which edges of graphs have data in every function
)
_SET = """{
\t.param .b64 handle;
\t.param .b32 value;
\tst.param.b64 [handle], %rd1;
\tst.param.b32 [value], %r1;
\tcall.uni cudaGraphSetConditional, (handle, value);
\t}
\tret;
}
"""


def _kernel(name: str, parameters: int, lines: Sequence[str]) -> str:
    """Return the PTX of a one-thread kernel that sets a conditional handle to the value in %r1."""
    listed = ", ".join([f".param .u64 p{n}" for n in range(parameters)])
    loads = [f"ld.param.u64 %rd{n + 1}, [p{n}];" for n in range(parameters)]
    registers = [".reg .pred %p<2>;", ".reg .b16 %rs<2>;", ".reg .b32 %r<4>;", ".reg .b64 %rd<6>;"]
    body = "".join([f"\t{line}\n" for line in (*registers, *loads, *lines)])
    return f".visible .entry {name}({listed})\n{{\n{body}\t{_SET}\n"


# `cudaGraphSetConditional` belongs to the driver: only its compiler declares it, so this is loaded
# as text.
CONDITIONS_PTX = (
    ".version 7.0\n.target sm_70\n.address_size 64\n\n"
    ".extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);\n\n"
    # (handle, predicate): 1 where the predicate holds. The same again with 0 and 1 for the first
    # and the second of two branches.
    + _kernel("set_while", 2, ("ld.global.u8 %rs1, [%rd2];", "setp.ne.u16 %p1, %rs1, 0;", "selp.u32 %r1, 1, 0, %p1;"))
    + _kernel("set_branch", 2, ("ld.global.u8 %rs1, [%rd2];", "setp.ne.u16 %p1, %rs1, 0;", "selp.u32 %r1, 0, 1, %p1;"))
    # (handle, index, last): the index as it is when unsigned it is less than the last, else the
    # last.
    + _kernel("set_index", 3, ("ld.global.u32 %r2, [%rd2];", "cvt.u32.u64 %r3, %rd3;", "min.u32 %r1, %r2, %r3;"))
    # (handle, counter): a loop of a known count begins.
    + _kernel("first_trip", 2, ("mov.u32 %r1, 1;", "mov.u64 %rd3, 0;", "st.global.u64 [%rd2], %rd3;"))
    # (handle, counter, trips): 1 if another iteration follows.
    + _kernel("next_trip", 3, (
        "ld.global.u64 %rd4, [%rd2];", "add.u64 %rd4, %rd4, 1;", "st.global.u64 [%rd2], %rd4;", "setp.lt.u64 %p1, %rd4, %rd3;",
        "selp.u32 %r1, 1, 0, %p1;",
    ))
)  # fmt: skip


class StreamOwner(Protocol):
    """The executor whose work is recorded; see `CudaExecutor`."""

    stream: Any

    @property
    def driver(self) -> CudaDriver:
        """The driver."""
        ...

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """The lock for calls of the driver."""
        ...

    @property
    def context(self) -> Any:
        """The context of the device."""
        ...

    def enter(self) -> None:
        """Make the context current in the calling thread."""
        ...

    def load(self, code: bytes, exports: list[str]) -> Any:
        """Load a module."""
        ...

    def function(self, loaded: Any, name: str) -> Any:
        """Return a function of a loaded module."""
        ...

    def create_stream(self) -> Any:
        """Return a new stream."""
        ...


class CudaGraphs:
    """See `GraphExecutor`. Graphs of one executor's streams."""

    def __init__(self, executor: StreamOwner) -> None:
        self.executor, self.driver = executor, executor.driver
        self._streams: list[Any] = []  # a stream for the bodies of each depth
        self._depth = 0
        self._conditions: Any = None
        self._mode = self.driver.binding.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL

    def record(self, work: Callable[[], None], depth: int = 0) -> Any:
        """See `GraphExecutor`.

        Other threads wait meanwhile, or their work would be part of the graph.
        """
        executor = self.executor
        executor.enter()
        collecting = gc.isenabled()
        gc.disable()  # a finalizer may wait for the stream, which cannot be done while it records
        try:
            with executor.lock:
                self._prepare(depth)
                self.driver.call("cuStreamBeginCapture", executor.stream, self._mode)
                try:
                    work()
                except BaseException as problem:
                    raise self._abandoned(problem) from problem
                try:
                    graph = self.driver.call("cuStreamEndCapture", executor.stream)
                except CudaError as problem:
                    raise _refused(problem) or problem from problem
        finally:
            if collecting:
                gc.enable()
        try:
            return self.driver.call("cuGraphInstantiate", graph, 0)
        except CudaError as problem:
            if problem.fatal:
                raise
            raise GraphRefusedError(problem.message) from problem
        finally:
            self.driver.discard("cuGraphDestroy", graph)

    def launch_graph(self, graph: Any) -> None:
        """See `GraphExecutor`."""
        self.executor.enter()
        with self.executor.lock:
            self.driver.call("cuGraphLaunch", graph, self.executor.stream)

    def destroy_graph(self, graph: Any) -> None:
        """See `GraphExecutor`."""
        self.driver.discard("cuGraphExecDestroy", graph)

    # -- conditions on the device ------------------------------------------------------------------
    def record_while(
        self, predicate: int, condition: Callable[[], None], body: Callable[[], None]
    ) -> None:
        """See `GraphExecutor`."""
        handle = self._handle()

        def decide() -> None:
            condition()
            self._launch("set_while", handle, predicate)

        def trip() -> None:
            body()
            decide()

        decide()
        self._node("WHILE", handle, (trip,))

    def record_trips(self, trips: int, counter: DeviceMemory, body: Callable[[], None]) -> None:
        """See `GraphExecutor`."""
        handle = self._handle()

        def trip() -> None:
            body()
            self._launch("next_trip", handle, counter.address, trips)

        self._launch("first_trip", handle, counter.address)
        self._node("WHILE", handle, (trip,))

    def record_branches(
        self, index: int, is_predicate: bool, branches: Sequence[Callable[[], None]]
    ) -> None:
        """See `GraphExecutor`."""
        handle = self._handle()
        if is_predicate:
            self._launch("set_branch", handle, index)
        else:
            self._launch("set_index", handle, index, len(branches) - 1)
        self._node("SWITCH", handle, branches)

    def _prepare(self, depth: int) -> None:
        """Create streams and functions, which cannot be created while a stream records."""
        if depth and self._conditions is None:
            self._conditions = self.executor.load(CONDITIONS_PTX.encode(), [])
            for name in ("set_while", "set_branch", "set_index", "first_trip", "next_trip"):
                self.executor.function(self._conditions, name)
        while len(self._streams) < depth:
            self._streams.append(self.executor.create_stream())

    def _launch(self, kernel: str, *arguments: int) -> None:
        function = self.executor.function(self._conditions, kernel)
        parameters = (arguments, (ctypes.c_void_p,) * len(arguments))
        self.driver.call(
            "cuLaunchKernel", function, 1, 1, 1, 1, 1, 1, 0, self.executor.stream, parameters, 0
        )

    def _handle(self) -> int:
        """Return a conditional handle of the graph that is being recorded."""
        graph = self._recorded()[0]
        return int(self._call("cuGraphConditionalHandleCreate", graph, self.executor.context, 0, 0))

    def _recorded(self) -> tuple[Any, list[Any]]:
        """Return (the graph that is being recorded, the nodes before the next one)."""
        _, _, graph, nodes, *_ = self._call("cuStreamGetCaptureInfo", self.executor.stream)
        return graph, list(nodes or ())

    def _node(self, kind: str, handle: int, bodies: Sequence[Callable[[], None]]) -> None:
        """Add a conditional node after the recorded work, with a graph of each body in it."""
        binding = self.driver.binding
        graph, before = self._recorded()
        node = binding.CUgraphNodeParams()
        node.type = binding.CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL
        node.conditional.handle = binding.CUgraphConditionalHandle(handle)
        node.conditional.type = getattr(
            binding.CUgraphConditionalNodeType, f"CU_GRAPH_COND_TYPE_{kind}"
        )
        node.conditional.size = len(bodies)
        node.conditional.ctx = self.executor.context
        edges = (None,) if binding.CUDA_VERSION >= _EDGE_DATA_SINCE else ()
        made = self._call("cuGraphAddNode", graph, before, *edges, len(before), node)
        replace = int(
            binding.CUstreamUpdateCaptureDependencies_flags.CU_STREAM_SET_CAPTURE_DEPENDENCIES
        )
        self._call(
            "cuStreamUpdateCaptureDependencies", self.executor.stream, [made], *edges, 1, replace
        )
        for inside, body in zip(list(node.conditional.phGraph_out), bodies, strict=True):
            self._record_into(inside, body)

    def _record_into(self, graph: Any, work: Callable[[], None]) -> None:
        """Record work into the graph of a conditional node, by a stream of its depth.

        The outer stream continues to record.
        """
        outer, inner = self.executor.stream, self._streams[self._depth]
        self._call("cuStreamBeginCaptureToGraph", inner, graph, None, None, 0, self._mode)
        self._depth += 1
        self.executor.stream = inner
        try:
            work()
        except BaseException:
            self.driver.discard("cuStreamEndCapture", inner)
            raise
        finally:
            self._depth -= 1
            self.executor.stream = outer
        self._call("cuStreamEndCapture", inner)

    def _call(self, function: str, *arguments: Any) -> Any:
        """Call a function of the driver; GraphRefusedError if it or the binding is too old."""
        try:
            return self.driver.call(function, *arguments)
        except (AttributeError, TypeError) as problem:
            raise GraphRefusedError(f"{function}: {problem}") from problem
        except CudaError as problem:
            if problem.fatal:
                raise
            raise GraphRefusedError(problem.message) from problem

    def _abandoned(self, problem: BaseException) -> BaseException:
        """End a failed recording and return the exception to raise.

        Otherwise the stream would record for ever. A library reports only its own failure; the
        driver reports at the end of the recording that it refused to record the work.
        """
        try:
            self.driver.discard(
                "cuGraphDestroy", self.driver.call("cuStreamEndCapture", self.executor.stream)
            )
        except CudaError as at_end:
            return _refused(problem) or _refused(at_end) or problem
        return _refused(problem) or problem


def _refused(problem: BaseException) -> GraphRefusedError | None:
    """Return the refusal to record in an error or its causes, else None."""
    cause: BaseException | None = problem
    while cause is not None:
        if isinstance(cause, GraphRefusedError):
            return cause
        if isinstance(cause, CudaError) and cause.code.startswith(_NOT_RECORDED):
            return GraphRefusedError(cause.message)
        cause = cause.__cause__
    return None
