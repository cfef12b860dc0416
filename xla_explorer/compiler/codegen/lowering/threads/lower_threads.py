"""The lowering of a loop nest for the threads of a launch, one element a thread at a time."""

from __future__ import annotations

from xla_explorer.compiler.codegen.lowering.pipeline import record_statements
from xla_explorer.compiler.codegen.lowering.threads.crossing_reductions import CrossingReduction
from xla_explorer.compiler.codegen.lowering.threads.thread_loops import ThreadLoops
from xla_explorer.compiler.codegen.lowering.threads.thread_reductions import ThreadReduction
from xla_explorer.compiler.codegen.lowering.threads.thread_scans import ThreadScan
from xla_explorer.compiler.codegen.nest.ir import Reduce
from xla_explorer.compiler.codegen.nest.launch import crosses_threads


class ThreadLowering(ThreadLoops):
    """A nest that is being lowered for the threads of a launch."""

    def kernel(self) -> None:
        """Write the whole body."""
        self.body(self.nest.body)
        record_statements(self.b.records)

    def reduce(self, s: Reduce) -> None:
        """Write a reduction, and add its results to the values."""
        write: type[ThreadScan | CrossingReduction | ThreadReduction] = ThreadReduction
        if s.each:
            write = ThreadScan
        elif crosses_threads(s):
            write = CrossingReduction
        self.values.update(write(self, s).write())
