"""The kernels of a host program: each is written once, named, cut into tasks where that pays; then their text."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from xla_explorer.compiler.codegen.dispatch import (
    write_blocked_kernel,
    write_kernel,
    write_overlapping_kernel,
)
from xla_explorer.compiler.codegen.ir.optimization_level import OptimizationLevel
from xla_explorer.compiler.codegen.kernels import Kernel
from xla_explorer.compiler.codegen.library_calls import write_library_convolution, write_library_dot
from xla_explorer.compiler.codegen.nest.accesses import is_whole
from xla_explorer.compiler.codegen.nest.kernel import form_of_nest
from xla_explorer.compiler.codegen.nest.plain_nests.hlo_parts import array_names
from xla_explorer.compiler.codegen.nest.policies import base
from xla_explorer.compiler.codegen.nest.policies.facts import schedule_facts
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.parallel_plan import parallel_decision, plan_parallel
from xla_explorer.compiler.codegen.program_records import BufferSlice, KernelDecision
from xla_explorer.compiler.codegen.scheduled_kernel import ScheduledKernels
from xla_explorer.compiler.codegen.symbol_names import identifier
from xla_explorer.compiler.codegen.task_function import (
    chain_function,
    scratch_of_kernel,
    task_function,
)
from xla_explorer.compiler.decisions.code_reasons import VECTORS
from xla_explorer.compiler.pipeline.context import PassControl
from xla_explorer.compiler.target import Target
from xla_explorer.compiler.transforms.simplifiers.common_subexpressions import StructuralKeys
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import CONSTANT

KernelWriter = Callable[..., Kernel]
Finished = Callable[
    [str, list[str]], None
]  # takes the IR text of a module of finished kernels, and their names
_CUT = (
    write_kernel,
    write_library_dot,
    write_library_convolution,
)  # writers that can cut their work into tasks
TINY_BYTES = 128  # of each array of a kernel that is inlined into its caller: a call would take longer than its work
TINY_LINES = 400  # of such a kernel, at most
MODULE_LINES = 500  # LLVM IR lines of finished kernels that are worth a module of their own


class PreparedKernel(NamedTuple):
    """A kernel that is written and named. unique: the places of its parameters."""

    function: str
    made: Kernel
    unique: list[BufferSlice]


@dataclass(slots=True)
class _NamedKernel:
    """A kernel of the program's text.

    overlap: some of its arrays share memory. tiny: a call takes longer than its work.
    """

    function: str
    made: Kernel
    instruction: HloInstruction
    overlap: bool
    tiny: bool

    def optimization_level(self, inlined: bool) -> OptimizationLevel:
        """What LLVM's optimiser does to it.

        inlined: as a part of its callers, whose optimisation level a nest then has.
        """
        return (
            OptimizationLevel.DEFAULT
            if inlined and isinstance(self.made.nest, Schedule)
            else self.made.optimization_level
        )

    def definition(
        self, linkage: str = "internal", inlined: bool = False
    ) -> tuple[list[str], list[int | None]]:
        """The function, and the instruction that each line comes from.

        inlined: it becomes part of its callers.
        """
        made, instruction = self.made, self.instruction.id
        kind = "ptr" if self.overlap else "ptr noalias"
        parameters = [f"{kind} %a{k}" for k in range(made.parameters)]
        parameters += [f"ptr noalias %table{k}" for k in range(len(made.tables))]
        parameters += ["ptr noalias %scratch"] if made.scratch_bytes else []
        parameters += ["i64 %task"] if made.tasks > 1 else []
        attributes = (
            ("alwaysinline" if inlined else "noinline")
            + " nounwind"
            + self.optimization_level(inlined).attribute
        )
        head = f"define {linkage} void @{self.function}({', '.join(parameters)}) {attributes} {{"
        return [head, "entry:", *made.lines, "}", ""], [
            instruction,
            instruction,
            *made.origins,
            instruction,
            None,
        ]


class ProgramKernels:
    """All kernels of one program; equal ones are one function.

    functions: name -> id of the instruction that it was written for. control: what the user forces
    and forbids. scheduled: the kernels that the user writes. decides: somebody reads `decisions`.
    finished: takes kernels that LLVM may compile while the others are written.
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
    ) -> None:
        self._finished = finished
        self._waiting: list[_NamedKernel] = []  # for `finished`
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
        self._kernels: list[_NamedKernel] = []
        self._keys = StructuralKeys(layout_sensitive=True)
        self._written: dict[
            Hashable, tuple[Kernel, HloInstruction]
        ] = {}  # by all that a kernel is written from
        self._known: dict[tuple[object, ...], str] = {}
        self._chains: dict[
            tuple[tuple[str, tuple[int, ...]], ...], str
        ] = {}  # calls of a block -> the function that does them
        self._names: set[str] = {entry}
        self.inlines_tiny = True  # False where the callers' code is not optimised

    def prepare(
        self,
        i: HloInstruction,
        kind: str,
        write: KernelWriter,
        operands: Sequence[BufferSlice],
        results: Sequence[BufferSlice],
        blocks: int = 0,
    ) -> PreparedKernel:
        """Write or find the kernel. blocks: cut it into so many tasks, for a chain."""
        places = [*operands, *results]
        numbers: dict[tuple[int, int], int] = {}
        slots = tuple([numbers.setdefault((p.slot, p.offset), len(numbers)) for p in places])
        unique = [
            next(p for p, s in zip(places, slots, strict=True) if s == k)
            for k in range(len(numbers))
        ]
        written = set(slots[len(operands) :])
        overlap = any(
            a.slot == b.slot
            and a.offset < b.offset + b.size
            and b.offset < a.offset + a.size
            and (x in written or y in written)
            for x, a in enumerate(unique)
            for y, b in enumerate(unique)
            if x < y
        )
        if write is write_kernel and overlap:  # the vectors of a nest read ahead of what is written
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
            and len(made.lines) < TINY_LINES
        )
        key = (made.lines, made.globals, made.parameters, made.tasks, overlap, tiny)
        function = self._known.get(key)
        if function is None:
            function = self._known[key] = self.fresh_name(identifier(i.name))
            self.functions[function] = i.id
            self._kernels.append(_NamedKernel(function, made, i, overlap, tiny))
            if (
                self._finished is not None
                and made.optimization_level is OptimizationLevel.FINAL
                and not (tiny or made.math)
            ):
                self._waiting.append(self._kernels[-1])
                if sum([len(kernel.made.lines) for kernel in self._waiting]) >= MODULE_LINES:
                    self._finished(*self._module(self._waiting))
                    self._waiting = []
        return PreparedKernel(function, made, unique)

    def _write(
        self,
        i: HloInstruction,
        kind: str,
        write: KernelWriter,
        slots: tuple[int, ...],
        overlap: bool,
    ) -> Kernel:
        """The kernel, in tasks when it is worth several threads; the decision is noted."""
        if self.threads == 1:
            return self._once(write, i, slots)
        if self.control.forbidden("parallel", (i,)):
            reason = refuse(
                "forbidden-by-user",
                f"an override forbids parallel tasks of the kernel of %{i.name}",
            )
            self.decisions.append(KernelDecision(i.id, i.name, False, reason, "parallel"))
            return self._once(write, i, slots)
        plan = plan_parallel(i, self.threads, kind)
        if self.control.forced("parallel", (i,)):
            plan = plan._replace(tasks=max(plan.tasks, self.threads))
        cut = plan.tasks > 1 and not overlap and write in _CUT
        made = self._once(write, i, slots, *([plan.tasks] if cut else []))
        if cut and made.tasks == 1 and plan.tasks > self.threads:
            made = self._once(write, i, slots, self.threads)
        self.decisions.append(parallel_decision(i, plan, made.tasks, overlap))
        return made

    def _once(
        self, write: KernelWriter, i: HloInstruction, slots: tuple[int, ...], *tasks: int
    ) -> Kernel:
        """The kernel, taken from an instruction before that has the same operations on arrays of the same shapes, in the same memory."""
        if any(
            leaf.is_array and leaf.byte_size >= base.STREAMED_TRANSPOSE_BYTES
            for _, leaf in i.shape.leaves()
        ):
            return write(
                i, self.target, slots, *tasks
            )  # who reads a result decides whether it is written past the cache
        first = {o: k for k, o in reversed(list(enumerate(i.operands)))}
        operands = tuple(
            [
                (first[o], o.shape, self._keys.parts(o) if o.opcode is CONSTANT else o.opcode)
                for o in i.operands
            ]
        )
        key = (write, slots, tasks, self._keys.parts(i), operands)
        found = self._written.get(key)
        if found is None:
            made = write(i, self.target, slots, *tasks)
            self._written[key] = made, i
            return made
        made, other = found
        if isinstance(made.nest, Reason):
            message = f"%{i.name} is the same kernel as %{other.name}: {made.nest.message}"
            made = made._replace(nest=Reason(made.nest.code, message, made.nest.facts))
        return made

    def _note_nest(self, i: HloInstruction, made: Kernel, form: str) -> None:
        """Whether the kernel was made from a loop nest is a decision.

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
        """A function's name that no other has."""
        while name in self._names:
            name += "_"
        self._names.add(name)
        return name

    def chain(self, calls: tuple[tuple[str, tuple[int, ...]], ...]) -> str:
        """The function that makes these calls (of a kernel, with the numbers of its pointers) for one block of rows."""
        if calls not in self._chains:
            self._chains[calls] = self.fresh_name("row_chain")
        return self._chains[calls]

    # -- vectors -----------------------------------------------------------------------------------
    def note_vectors(self) -> None:
        """Who makes the vectors of each kernel is a decision."""
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
        """Functions that write results past the caches."""
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

    def _inlines(self, kernel: _NamedKernel) -> bool:
        """Whether the kernel becomes part of its callers."""
        return self.inlines_tiny and kernel.tiny

    def _makes_vectors(self, kernel: _NamedKernel) -> str:
        """Why a kernel is left to LLVM, as the code of a Reason; or that its writer chose the vectors."""
        if kernel.optimization_level(self._inlines(kernel)) is OptimizationLevel.FINAL:
            return "written-in-vectors"
        if not self.target.vectorizes_itself:
            return "target-is-llvms"
        if kernel.overlap:
            return "operands-overlap"
        if self._inlines(kernel):
            return "tiny-kernel"
        return (
            "scalar-by-nature"
            if kernel.made.optimization_level is OptimizationLevel.SHORT
            else "left-to-llvm"
        )

    # -- the text ----------------------------------------------------------------------------------
    @property
    def declarations(self) -> dict[str, None]:
        """What the kernels call, as `declare` lines."""
        return dict.fromkeys(
            [line for kernel in self._kernels for line in kernel.made.declarations]
        )

    @property
    def globals(self) -> dict[str, None]:
        """Constants and metadata of the kernels, a line each."""
        return dict.fromkeys([line for kernel in self._kernels for line in kernel.made.globals])

    @property
    def math(self) -> dict[str, None]:
        """Names of the mathematical functions that are called for one element."""
        return dict.fromkeys([name for kernel in self._kernels for name in kernel.made.math])

    @property
    def scratch_bytes(self) -> int:
        """Scratch memory of the kernel that needs most; they run one after the other."""
        return max(
            [
                scratch_of_kernel(kernel.made, kernel.function in self.threaded)
                for kernel in self._kernels
            ],
            default=0,
        )

    @staticmethod
    def _module(kernels: list[_NamedKernel]) -> tuple[str, list[str]]:
        """A module of kernels that others call by name; their names."""
        head = dict.fromkeys([line for kernel in kernels for line in kernel.made.globals])
        tail = dict.fromkeys([line for kernel in kernels for line in kernel.made.declarations])
        body = [line for kernel in kernels for line in kernel.definition("hidden")[0]]
        return "\n".join([*head, *body, *tail, "", "!0 = !{}", ""]), [
            kernel.function for kernel in kernels
        ]

    def text(self) -> tuple[list[str], list[int | None]]:
        """The functions, and the instruction that each line comes from."""
        lines: list[str] = []
        origins: list[int | None] = []
        for kernel in self._kernels:
            more, more_origins = kernel.definition(inlined=self._inlines(kernel))
            lines += more
            origins += more_origins
            if kernel.function in self.threaded:
                task = task_function(kernel.function, kernel.made)
                lines += task
                origins += [kernel.instruction.id] * len(task)
        for calls, name in self._chains.items():
            lines += chain_function(name, calls)
        return lines, origins + [None] * (len(lines) - len(origins))


def _over_operands(schedule: Schedule, i: HloInstruction) -> Schedule:
    """The schedule of a kernel that was written for another instruction: its directives name the operands of this one."""
    theirs = [a.name for a in schedule.start.arrays if not a.written]
    ours = array_names(list(dict.fromkeys(i.operands)))
    if theirs == ours or len(theirs) != len(ours):
        return schedule
    names = dict(zip(theirs, ours, strict=True))
    return replace(schedule, directives=tuple([d.renamed(names) for d in schedule.directives]))
