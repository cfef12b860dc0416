"""Kernels of a host program: each is emitted once, named, and divided into tasks if that pays."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import NamedTuple

from xla_explorer.compiler.codegen.dispatch import (
    write_blocked_kernel,
    write_kernel,
    write_overlapping_kernel,
)
from xla_explorer.compiler.codegen.ir.builder import contracts
from xla_explorer.compiler.codegen.ir.definitions import Declaration, Definition
from xla_explorer.compiler.codegen.ir.llvm_module import (
    LlvmFunction,
    LlvmModule,
)
from xla_explorer.compiler.codegen.ir.optimization_level import OptimizationLevel
from xla_explorer.compiler.codegen.kernel_functions import (
    NamedKernel,
    chain_function,
    module_of,
    scratch_of_kernel,
    task_function,
)
from xla_explorer.compiler.codegen.kernel_store import KernelStore, kernel_of_program
from xla_explorer.compiler.codegen.kernels import Kernel
from xla_explorer.compiler.codegen.kernels.fourier.transform import is_one_line
from xla_explorer.compiler.codegen.library_calls import write_library_convolution, write_library_dot
from xla_explorer.compiler.codegen.lowering.recording import is_recorded
from xla_explorer.compiler.codegen.nest import tuning
from xla_explorer.compiler.codegen.nest.accesses import is_whole
from xla_explorer.compiler.codegen.nest.plain_nests.hlo_parts import array_names
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.nest.schedule_facts import schedule_facts
from xla_explorer.compiler.codegen.nest_kernels import form_of_nest
from xla_explorer.compiler.codegen.parallel_plan import parallel_decision, plan_parallel
from xla_explorer.compiler.codegen.program_records import BufferSlice, KernelDecision
from xla_explorer.compiler.codegen.scheduled_kernel import ScheduledKernels
from xla_explorer.compiler.codegen.symbol_names import identifier
from xla_explorer.compiler.decisions.code_reasons import VECTORS
from xla_explorer.compiler.pipeline.context import PassControl
from xla_explorer.compiler.target import Target
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.structural_keys import StructuralKeys
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import CONSTANT

KernelWriter = Callable[..., Kernel]
Finished = Callable[[LlvmModule], None]  # receives finished kernels
_PARTITIONED_WRITERS = (
    write_kernel,
    write_library_dot,
    write_library_convolution,
)  # writers that can partition their work into tasks
TINY_BYTES = 128  # of each array of an inlined kernel: a call would take longer than its work
TINY_LINES = 400  # of such a kernel, at most
# LLVM IR lines of a module of finished kernels. LLVM starts early with the first; each takes 2 ms.
MODULE_LINES, MORE_LINES, MOST_LINES = 500, 60, 2000


class PreparedKernel(NamedTuple):
    """A named kernel. unique: the buffer slices of its parameters."""

    function: str
    made: Kernel
    unique: list[BufferSlice]


class ProgramKernels:
    """All kernels of one program; equal kernels are one function.

    functions: name -> id of the first instruction. control: overrides of the user. scheduled: the
    kernels with a schedule of the user. decides: `decisions` are read. finished: receives kernels
    that LLVM may compile while the others are written. prefix: of the kernels' names. A kernel
    called `round` or `memcpy` would otherwise replace the function that the code generator calls.
    store: kernels of earlier programs, if they may be used.
    """

    def __init__(
        self,
        target: Target,
        threads: int,
        entry: str,
        control: PassControl | None = None,
        scheduled: ScheduledKernels | None = None,
        decides: bool = True,
        finished: Finished | None = None,
        prefix: str = "",
    ) -> None:
        self.store: KernelStore | None = None
        self._finished = finished
        self._prefix = prefix
        self._waiting: list[NamedKernel] = []  # for `finished`
        self._module_lines = MODULE_LINES
        self.decides = decides
        self.scheduled = scheduled or ScheduledKernels({})
        self.target, self.threads, self.entry, self.control = (
            target,
            threads,
            entry,
            control or PassControl(),
        )
        self.decisions: list[KernelDecision] = []
        self.functions: dict[str, int] = {}
        self.threaded: set[str] = set()  # kernels that the thread pool calls
        self._kernels: list[NamedKernel] = []
        self._keys = StructuralKeys(layout_sensitive=True)
        self._written: dict[
            Hashable, tuple[Kernel, HloInstruction]
        ] = {}  # by everything that determines a kernel
        self._known: dict[tuple[object, ...], str] = {}
        self._chains: dict[
            tuple[tuple[str, tuple[int, ...]], ...], str
        ] = {}  # calls for a block -> their function
        self._names: set[str] = {entry}
        self.inlines_tiny = True  # False if the callers' code is not optimised

    def prepare(
        self,
        i: HloInstruction,
        kind: str,
        write: KernelWriter,
        operands: Sequence[BufferSlice],
        results: Sequence[BufferSlice],
        blocks: int = 0,
    ) -> PreparedKernel:
        """Return the kernel of an instruction, new or shared with an equal one.

        blocks: number of blocks, for a chain.
        """
        places = [*operands, *results]
        numbers: dict[tuple[int, int], int] = {}
        slots = tuple([numbers.setdefault((p.slot, p.offset), len(numbers)) for p in places])
        unique = [
            next(p for p, s in zip(places, slots, strict=True) if s == k)
            for k in range(len(numbers))
        ]
        overlap = _overlap(unique, set(slots[len(operands) :]))
        if write is write_kernel and overlap:  # vectors of a nest are loaded ahead of stores
            write = write_overlapping_kernel
        elif write is write_kernel and blocks:
            write = write_blocked_kernel
        if i in self.scheduled:
            made = self.scheduled.kernel(i, self.target, slots, overlap)
        else:
            made = (
                self._once(write, i, slots, blocks)
                if blocks and not overlap
                else self._write(i, kind, write, slots, overlap)
            )
            if self.decides:
                self._note_nest(i, made, form_of_nest(i, slots))
        tiny = (
            all(place.size <= TINY_BYTES for place in places)
            and kind == "kernel"
            and len(made.body) <= TINY_LINES
        )
        key = (made.body, made.globals, made.parameters, made.tasks, overlap, tiny)
        function = self._known.get(key)
        if function is None:
            function = self._known[key] = self._prefix + self.fresh_name(identifier(i.name))
            self.functions[function] = i.id
            self._kernels.append(NamedKernel(function, made, i, overlap, tiny))
            if (
                self._finished is not None
                and made.optimization_level is OptimizationLevel.FINAL
                and not (tiny or made.math or made.routines or made.has_variables)
            ):
                self._waiting.append(self._kernels[-1])
                if sum([len(kernel.made.body) for kernel in self._waiting]) >= self._module_lines:
                    self._finished(module_of(self._waiting))
                    self._waiting = []
                    self._module_lines = min(self._module_lines + MORE_LINES, MOST_LINES)
        return PreparedKernel(function, made, unique)

    def _write(
        self,
        i: HloInstruction,
        kind: str,
        write: KernelWriter,
        slots: tuple[int, ...],
        overlap: bool,
    ) -> Kernel:
        """Return the kernel, in tasks if several threads pay; the decision is recorded."""
        if self.threads == 1:
            return self._once(write, i, slots)
        if self.control.forbidden("parallel", (i,)):
            text = f"an override forbids parallel tasks of the kernel of %{i.name}"
            reason = refuse("forbidden-by-user", text)
            self.decisions.append(KernelDecision(i.id, i.name, False, reason, "parallel"))
            return self._once(write, i, slots)
        plan = plan_parallel(i, self.threads, kind, self.target)
        if self.control.forced("parallel", (i,)):
            plan = plan._replace(tasks=max(plan.tasks, self.threads))
        partitions = (
            plan.tasks > 1 and not overlap and write in _PARTITIONED_WRITERS and not is_one_line(i)
        )
        attempts = plan.attempts if write is write_kernel else plan.attempts[:1]
        made = self._once(write, i, slots, *(attempts if partitions else ()))
        self.decisions.append(parallel_decision(i, plan, made.tasks, overlap))
        return made

    def _once(
        self, write: KernelWriter, i: HloInstruction, slots: tuple[int, ...], *tasks: int
    ) -> Kernel:
        """Return the kernel, or that of an equal earlier instruction.

        Equal: the same operations on arrays of the same shapes, with the same aliasing.
        """
        is_large = any(
            leaf.is_array and leaf.byte_size >= tuning.streamed_transpose_bytes(self.target)
            for _, leaf in i.shape.leaves()
        )
        # Readers of a large result determine if its stores are non-temporal.
        leaves = is_large and tuning.leaves_the_program(i)
        first = {o: k for k, o in reversed(list(enumerate(i.operands)))}
        operands = tuple(
            [
                (first[o], o.shape, self._keys.parts(o) if o.opcode is CONSTANT else o.opcode)
                for o in i.operands
            ]
        )
        key = (write, slots, tasks, leaves, self._keys.parts(i), operands)
        found = self._written.get(key)
        if found is None:
            made = self._stored(write, i, slots, tasks, leaves)
            self._written[key] = made, i
            return made
        made, other = found
        if isinstance(made.nest, Reason):
            message = f"%{i.name} is the same kernel as %{other.name}: {made.nest.message}"
            made = made._replace(nest=Reason(made.nest.code, message, made.nest.facts))
        return made

    def _stored(
        self,
        write: KernelWriter,
        i: HloInstruction,
        slots: tuple[int, ...],
        tasks: tuple[int, ...],
        leaves: bool,
    ) -> Kernel:
        """Return the kernel, or that of an equal instruction of an earlier program."""
        known = kernel_of_program(i) if self.store is not None and not is_recorded() else None
        if self.store is None or known is None:
            return write(i, self.target, slots, *tasks)
        key = (write, self.target, contracts(), slots, tasks, leaves, known.key)
        made = self.store.get(key, known.members)
        if made is None:
            made = write(i, self.target, slots, *tasks)
            self.store.put(key, known.members, made)
        return made

    def _note_nest(self, i: HloInstruction, made: Kernel, form: str) -> None:
        """Record the decision for or against a loop nest.

        form: of the nest, see `form_of_nest`.
        """
        if isinstance(made.nest, Schedule):
            schedule = _over_operands(made.nest, i)
            facts = schedule_facts(schedule, self.target.vector.fma)
            said = (
                f"%{i.name}: {facts['schedule']}" if schedule.directives else f"%{i.name} as it is"
            )
            reason = Reason(
                "made-from-nest",
                said,
                {**facts, "by": "policy", **({"writes": form} if form else {})},
            )
            self.decisions.append(KernelDecision(i.id, i.name, True, reason, "loop-nest"))
        elif made.nest is not None:
            self.decisions.append(KernelDecision(i.id, i.name, False, made.nest, "loop-nest"))

    def fresh_name(self, name: str) -> str:
        """Return a unique function name."""
        while name in self._names:
            name += "_"
        self._names.add(name)
        return name

    def chain(self, calls: tuple[tuple[str, tuple[int, ...]], ...]) -> str:
        """Return the function that calls the kernels of a chain for one block of rows.

        calls: kernels with the numbers of their pointers.
        """
        if calls not in self._chains:
            self._chains[calls] = self.fresh_name("blocked_chain")
        return self._chains[calls]

    # -- vectors -----------------------------------------------------------------------------------
    def note_vectors(self) -> None:
        """Record for each kernel whether its vectors are emitted or left to LLVM."""
        for kernel in self._kernels:
            code = self._makes_vectors(kernel)
            written, i = code == "written-in-vectors", kernel.instruction
            facts = (
                {}
                if written
                else {
                    "optimization_level": kernel.optimization_level(
                        self._inlines(kernel)
                    ).name.lower()
                }
            )
            reason = Reason(code, f"%{i.name}: {VECTORS[code].sentence}", facts)
            self.decisions.append(
                KernelDecision(i.id, i.name, written, reason, "loop-vectorization")
            )

    def streaming(self) -> frozenset[str]:
        """Functions with non-temporal stores of results."""
        nests = {
            kernel.function: kernel.made.nest.nest
            for kernel in self._kernels
            if isinstance(kernel.made.nest, Schedule)
        }
        return frozenset(
            [
                name
                for name, nest in nests.items()
                if any(a.streamed and is_whole(nest, a) for a in nest.arrays)
            ]
        )

    @property
    def inlined(self) -> frozenset[str]:
        """Kernels that are inlined into their callers."""
        return frozenset([kernel.function for kernel in self._kernels if self._inlines(kernel)])

    def _inlines(self, kernel: NamedKernel) -> bool:
        """Return True if the kernel is inlined into its callers."""
        return self.inlines_tiny and kernel.tiny

    def _makes_vectors(self, kernel: NamedKernel) -> str:
        """Return the code of the reason for emitted vectors, or for leaving them to LLVM."""
        if kernel.optimization_level(self._inlines(kernel)) is OptimizationLevel.FINAL:
            return "written-in-vectors"
        if not self.target.vectorizes_itself:
            return "width-chosen-by-llvm"
        if kernel.overlap:
            return "operands-overlap"
        if self._inlines(kernel):
            return "tiny-kernel"
        return (
            "scalar-loops"
            if kernel.made.optimization_level is OptimizationLevel.SHORT
            else "left-to-llvm"
        )

    # -- the functions -----------------------------------------------------------------------------
    @property
    def declarations(self) -> dict[Declaration, None]:
        """Declarations of the functions that the kernels call."""
        return dict.fromkeys([d for kernel in self._kernels for d in kernel.made.declarations])

    @property
    def routines(self) -> dict[str, None]:
        """Functions that the kernels call and whose address the backend supplies."""
        return dict.fromkeys([name for kernel in self._kernels for name in kernel.made.routines])

    @property
    def globals(self) -> dict[Definition, None]:
        """Constants and metadata of the kernels."""
        return dict.fromkeys([g for kernel in self._kernels for g in kernel.made.globals])

    @property
    def has_variables(self) -> bool:
        """True if a kernel uses a mutable variable of the module."""
        return any(kernel.made.has_variables for kernel in self._kernels)

    @property
    def math(self) -> dict[str, None]:
        """Names of the called mathematical functions."""
        return dict.fromkeys([name for kernel in self._kernels for name in kernel.made.math])

    @property
    def scratch_bytes(self) -> int:
        """Maximum scratch memory of a kernel; kernels use it one after the other."""
        return max(
            [
                scratch_of_kernel(kernel.made, kernel.function in self.threaded)
                for kernel in self._kernels
            ],
            default=0,
        )

    def definitions(self) -> list[LlvmFunction]:
        """Return all functions."""
        found: list[LlvmFunction] = []
        for kernel in self._kernels:
            found.append(kernel.definition(inlined=self._inlines(kernel)))
            if kernel.function in self.threaded:
                found.append(task_function(kernel.function, kernel.made, kernel.instruction.id))
        return found + [chain_function(name, calls) for calls, name in self._chains.items()]


def _over_operands(schedule: Schedule, i: HloInstruction) -> Schedule:
    """Return a shared kernel's schedule with the operand names of another instruction."""
    theirs = [a.name for a in schedule.start.arrays if not a.written]
    ours = array_names(list(dict.fromkeys(i.operands)))
    if theirs == ours or len(theirs) != len(ours):
        return schedule
    names = dict(zip(theirs, ours, strict=True))
    return replace(schedule, directives=tuple([d.renamed(names) for d in schedule.directives]))


def _overlap(slices: Sequence[BufferSlice], written: set[int]) -> bool:
    """Return True if two slices overlap, of which one is written."""
    return any(
        a.slot == b.slot
        and a.offset < b.offset + b.size
        and b.offset < a.offset + a.size
        and (x in written or y in written)
        for x, a in enumerate(slices)
        for y, b in enumerate(slices)
        if x < y
    )
