"""A GPU program: a thunk per instruction in order, control flow with nested thunks.

Source: xla/service/gpu/thunk_emitter.cc, xla/backends/gpu/runtime/thunk.h.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from xla_explorer.backends.gpu.architecture import GpuArchitecture
from xla_explorer.backends.gpu.async_thunks import (
    DONES,
    STARTS,
    done_thunks,
    operand_places,
    result_places,
    start_of,
    wrapped_operation,
)
from xla_explorer.backends.gpu.device_math import DEFAULT_LEVEL, KernelMath
from xla_explorer.backends.gpu.emitters import EmittedKernels, write_gpu_kernels
from xla_explorer.backends.gpu.emitters.constant_memory import (
    CONSTANT_BANK,
    ConstantBank,
    ConstantPlacement,
)
from xla_explorer.backends.gpu.emitters.dots.result_store import product_in
from xla_explorer.backends.gpu.emitters.kernel_descriptors import GpuKernel
from xla_explorer.backends.gpu.emitters.selection import Overrides
from xla_explorer.backends.gpu.kernel_module import (
    PTX_KERNELS,
    KernelDialect,
    KernelModule,
)
from xla_explorer.backends.gpu.lowering_strategies import gpu_strategy
from xla_explorer.backends.gpu.persistent_kernel import EMITTER as PERSISTENT_KERNEL
from xla_explorer.backends.gpu.persistent_kernel import persistent_kernel
from xla_explorer.backends.gpu.thunk import NO_STEP, Thunk
from xla_explorer.backends.interfaces import ProgramStep
from xla_explorer.compiler.buffers import BufferAssignment, BufferSlice
from xla_explorer.compiler.codegen.dispatch import LoweringKind
from xla_explorer.compiler.codegen.ir.llvm_module import LlvmModule
from xla_explorer.compiler.codegen.ir.llvm_text import module_text
from xla_explorer.compiler.codegen.lowering.body import body_lines
from xla_explorer.compiler.codegen.lowering.recording import begin_kernel, record_step
from xla_explorer.compiler.codegen.nest.directives import Directive
from xla_explorer.compiler.codegen.nest.launch_dimensions import LaunchArchitecture
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.program_records import KernelDecision
from xla_explorer.compiler.codegen.scheduled_kernel import ScheduledKernels, check_all_met
from xla_explorer.compiler.codegen.single_device import COPIES
from xla_explorer.compiler.pipeline.context import PassControl
from xla_explorer.compiler.target import NVPTX, Target
from xla_explorer.compiler.transforms.library_calls.library_call import call_name, library_call_of
from xla_explorer.compiler.transforms.loops.loop_state import needed_only_by_condition
from xla_explorer.compiler.transforms.scheduling.stream_assignment import stream_of, waits_for
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.analysis.backend_config import known_trip_count
from xla_explorer.hlo.analysis.effects import has_side_effect
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


class GpuProgram(NamedTuple):
    """A GPU program.

    thunks: of the entry. kernels: each distinct one, in the order of the module. module: their LLVM
    IR. scratch_bytes: memory of each stream between the kernels of an operation. emitted: emitter
    and refusals of each instruction's kernels. dialect: of the kernels in LLVM. constants:
    placement of each instruction's constants. directives: results of the user's forced and
    forbidden directives.
    """

    thunks: tuple[Thunk, ...]
    kernels: tuple[GpuKernel, ...]
    module: LlvmModule
    scratch_bytes: int = 0
    emitted: tuple[tuple[HloInstruction, EmittedKernels], ...] = ()
    dialect: KernelDialect = PTX_KERNELS
    constants: tuple[tuple[HloInstruction, ConstantPlacement], ...] = ()
    directives: tuple[KernelDecision, ...] = ()

    @property
    def text(self) -> str:
        """The module as LLVM IR."""
        return module_text(self.module)

    def walk(self) -> Iterator[Thunk]:
        """Yield every thunk, those inside bodies included, in program order."""
        stack = list(reversed(self.thunks))
        while stack:
            thunk = stack.pop()
            yield thunk
            for body in reversed(thunk.bodies):
                stack.extend(reversed(body))

    @property
    def steps(self) -> list[ProgramStep]:
        """Rows for kernels, copies and evaluated instructions; control flow has no row."""
        rows: list[ProgramStep] = []
        for thunk in self.walk():
            if thunk.kind in NO_STEP:
                continue
            i = thunk.instruction
            function = (
                thunk.kernel.name
                if thunk.kernel is not None
                else {"copy": "memcpy"}.get(thunk.kind, thunk.kind)
            )
            if thunk.call is not None:
                function = call_name(thunk.call)
            rows.append(
                ProgramStep(
                    len(rows),
                    i.id,
                    i.name,
                    i.opcode.name,
                    thunk.kind,
                    function,
                    thunk.reason,
                    thunk.stream,
                )
            )
        return rows

    @property
    def can_be_graph(self) -> bool:
        """True if a CUDA graph can hold the whole program, without host computation."""
        return all(thunk.is_recorded for thunk in self.thunks)

    @property
    def evaluated(self) -> list[Thunk]:
        """Thunks without a kernel."""
        return [thunk for thunk in self.walk() if thunk.kind == "evaluator"]


def library_choice(i: HloInstruction, made: EmittedKernels, why: Reason | None) -> Reason | None:
    """Return the reason against a library call that XLA would make, with both estimates.

    None if XLA would write a kernel too. why: the refusal of `library-rewriter`.
    """
    name = i.opcode.name
    if why is None:
        return None
    facts: dict[str, object] = {"opcode": name, "emitter": made.emitter, "because": why.code}
    if made.estimated_us is not None:
        facts["own_arithmetic_us"] = round(made.estimated_us, 2)
    facts |= dict(why.facts)
    own = (
        "loop kernel, one thread per result element"
        if made.emitter == "loop"
        else f"{made.emitter} kernel"
    )
    return refuse(
        "library-not-called",
        f"%{i.name}: XLA would call a library for this {name}; it is a {own} here: {why.message}",
        **facts,
    )


def _trips(loop: HloInstruction) -> int | None:
    """Return the known trip count of a loop whose condition has no side effects."""
    noticed = any(has_side_effect(i) for i in loop.called[0].instructions.values())
    return None if noticed else known_trip_count(loop)


def _keeps_layout(copy: HloInstruction) -> bool:
    return (
        not copy.shape.is_array
        or copy.shape.layout is copy.operands[0].shape.layout
        or copy.shape.rank <= 1
    )


class GpuProgramWriter:
    """Writer of kernels and thunks from a module's schedule with assigned buffers.

    The default target is NVIDIA's GPUs. schedules: directives of kernels, by the user. control: the
    user's overrides. why_no_library: returns the refusal of a library call for an instruction.
    """

    def __init__(
        self,
        module: HloModule,
        assignment: BufferAssignment,
        architecture: LaunchArchitecture,
        target: Target = NVPTX,
        dialect: KernelDialect = PTX_KERNELS,
        why_no_library: Callable[[HloInstruction], Reason | None] = lambda _: None,
        schedules: Mapping[str, Sequence[Directive]] = MappingProxyType({}),
        control: PassControl | None = None,
    ) -> None:
        self.control = control or PassControl()
        self.scheduled = ScheduledKernels(schedules, self.control)
        self.schedules = schedules
        self.why_no_library = why_no_library
        self.module = module
        self.assignment = assignment
        self.target = target
        self.kernels = KernelModule(architecture, dialect)
        self.emitted: list[tuple[HloInstruction, EmittedKernels]] = []
        self.constants: list[tuple[HloInstruction, ConstantPlacement]] = []
        self._bank = ConstantBank()

    def write(self) -> GpuProgram:
        """Return the program."""
        thunks = self._computation(self.module.entry)
        check_all_met(self.schedules, [i.name for i, _ in self.emitted])
        module = self.kernels.write()
        scratch = max([made.scratch_bytes for _, made in self.emitted], default=0)
        return GpuProgram(thunks, tuple(self.kernels.kernels), module, scratch, tuple(self.emitted),
                          self.kernels.dialect, tuple(self.constants), tuple(self.scheduled.decisions))  # fmt: skip

    def _computation(
        self, computation: HloComputation, left_out: frozenset[HloInstruction] = frozenset()
    ) -> tuple[Thunk, ...]:
        thunks: list[Thunk] = []
        sequence = [i for i in computation.sequence() if i not in left_out]
        for i in sequence:
            name, chosen = i.opcode.name, gpu_strategy(i, self.target)
            if chosen.kind is LoweringKind.NOTHING:
                continue
            if name in STARTS and self._is_native(i):
                thunks.extend(self._start(i, sequence))
                continue
            if name in DONES and self._is_native(start_of(i)):
                thunks.extend(done_thunks(i, self.assignment))
                continue
            if name == "async-update" and self._is_native(start_of(i)):
                continue
            if chosen.kind is LoweringKind.CONTROL:
                thunks.extend(self._control_flow(i))
            elif chosen.kind is LoweringKind.COPY and (name != "copy" or _keeps_layout(i)):
                sources = [place for o in i.operands for place in self._leaves(o)]
                pairs = zip(sources, self._leaves(i), strict=True)
                thunks.extend(
                    [Thunk("copy", i, arguments=pair) for pair in pairs if pair[0] != pair[1]]
                )
            else:
                thunks.extend(self._operation(i))
        return tuple(thunks)

    def _leaves(self, i: HloInstruction) -> list[BufferSlice]:
        return [
            self.assignment.slice_of(i, index) for index, leaf in i.shape.leaves() if leaf.is_array
        ]

    def _carried_copies(
        self, source: HloInstruction, target: HloInstruction
    ) -> tuple[tuple[BufferSlice, BufferSlice], ...]:
        pairs = zip(self._leaves(source), self._leaves(target), strict=True)
        return tuple([pair for pair in pairs if pair[0] != pair[1]])

    def _control_flow(self, i: HloInstruction) -> list[Thunk]:
        if i.opcode.name == "while":
            condition, body = i.called
            trips = _trips(i)
            left_out = needed_only_by_condition(i) if trips is not None else frozenset()
            bodies = (self._computation(condition), self._computation(body, left_out))
            before = [
                Thunk("copy", i, arguments=pair) for pair in self._carried_copies(i.operands[0], i)
            ]
            predicate = self.assignment.slice_of(condition.root)
            after = self._carried_copies(body.root, i)
            if trips is not None and not bodies[1] and not after:
                return before
            return [
                *before,
                self._in_one_block(
                    Thunk("while", i, None, (predicate,), bodies, ((), after), trips=trips)
                ),
            ]
        branches = tuple([self._computation(c) for c in i.called])
        carried_copies = tuple([self._carried_copies(c.root, i) for c in i.called])
        if i.opcode.name == "conditional":
            return [
                Thunk(
                    "conditional",
                    i,
                    None,
                    (self.assignment.slice_of(i.operands[0]),),
                    branches,
                    carried_copies,
                )
            ]
        return [Thunk("call", i, None, (), branches, carried_copies)]

    def _in_one_block(self, loop: Thunk) -> Thunk:
        """Return the loop with a persistent single-block kernel, if possible (NVIDIA's GPUs)."""
        if not isinstance(self.kernels.architecture, GpuArchitecture):
            return loop
        i = loop.instruction
        found = self._overrides(i).why_not(i, PERSISTENT_KERNEL) or persistent_kernel(loop)
        if isinstance(found, Reason):
            self.emitted.append(
                (i, EmittedKernels((), "launches", refused=((PERSISTENT_KERNEL, found),)))
            )
            return loop
        self.emitted.append((i, EmittedKernels((found.kernel,), PERSISTENT_KERNEL)))
        kernel = self.kernels.add(
            i.name,
            i.id,
            found.kernel,
            found.may_overlap,
        )
        return loop._replace(kernel=kernel, arguments=found.places)

    def _is_native(self, start: HloInstruction) -> bool:
        """Return whether the device runs an asynchronous start.

        Else the evaluator does, synchronously.
        """
        if start.opcode.name == "copy-start":
            return True
        if start.opcode.name != "async-start" or any(
            user.opcode.name == "async-update" for user in start.users
        ):
            return False
        root = wrapped_operation(start)
        return (
            root is not None
            and root.opcode.name not in ("copy", *COPIES)
            and self._why_no_kernel(root) is None
        )

    def _start(self, i: HloInstruction, sequence: Sequence[HloInstruction]) -> list[Thunk]:
        """Return the work on its stream, after the main stream has computed its operands."""
        places, thunks = operand_places(i, sequence, self.assignment)
        stream, waits = stream_of(i), waits_for(i)
        results = result_places(i, self.assignment)
        if i.opcode.name == "copy-start":
            work = [Thunk("copy", i, arguments=pair) for pair in zip(places, results, strict=True)]
        else:
            root = wrapped_operation(i)
            assert root is not None
            by_parameter = {p: places[p.payload] for p in i.called[0].parameters()}
            work = self._operation(
                root, [by_parameter[o] for o in dict.fromkeys(root.operands)], results
            )
        first, *rest = work
        return [
            *thunks,
            first._replace(stream=stream, waits=waits),
            *[t._replace(stream=stream) for t in rest],
        ]

    def _why_no_kernel(self, i: HloInstruction) -> Reason | None:
        return gpu_strategy(i, self.target).why_not_native

    def _operation(
        self,
        i: HloInstruction,
        given: list[BufferSlice] | None = None,
        target: list[BufferSlice] | None = None,
    ) -> list[Thunk]:
        """Return the thunks of an operation.

        given, target: slices of the distinct operands and the results of asynchronous work, unknown
        to the assignment.
        """
        call = library_call_of(i) if given is None else None
        if call is not None:
            leaves = [place for value in (*i.operands, i) for place in self._leaves(value)]
            return [
                Thunk(
                    "library",
                    i,
                    arguments=tuple(leaves),
                    call=call,
                    stream=stream_of(i),
                    waits=waits_for(i),
                )
            ]
        refusal = self._why_no_kernel(i)
        if refusal is not None:
            leaves = [place for value in (*i.operands, i) for place in self._leaves(value)]
            return [Thunk("evaluator", i, arguments=tuple(leaves), reason=refusal)]
        operands = i.operands if i.opcode.name == "fusion" else tuple(dict.fromkeys(i.operands))
        results = target if target is not None else self._leaves(i)
        places = (
            given if given is not None else [self.assignment.slice_of(o) for o in operands]
        ) + results
        numbers: dict[tuple[int, int], int] = {}
        slots = tuple(
            [numbers.setdefault((id(p.allocation), p.offset), len(numbers)) for p in places]
        )
        distinct = tuple([places[slots.index(number)] for number in range(len(numbers))])
        written = {slots[k] for k in range(len(operands), len(slots))}
        may_overlap = any(
            a.overlaps(b) and (x in written or y in written)
            for x, a in enumerate(distinct)
            for y, b in enumerate(distinct)
            if x < y
        )
        overrides = self._overrides(i)
        emitted = write_gpu_kernels(
            i, self.kernels.architecture, slots, self.target, self.schedules.get(i.name), overrides
        )
        emitted = self._with_directives(i, slots, emitted, overrides)
        made = self._with_constants(i, emitted, distinct)
        self.emitted.append((i, made))
        kernels = [
            self.kernels.add(f"{i.name}{e.suffix}", i.id, e, may_overlap) for e in made.kernels
        ]
        product = product_in(i, "dot", "convolution")
        why = library_choice(
            i, made, self.why_no_library(i if isinstance(product, Reason) else product.dot)
        )
        # One decision, though there may be several kernels.
        return [
            Thunk("kernel", i, kernel, distinct, reason=None if number else why)
            for number, kernel in enumerate(kernels)
        ]

    def _with_directives(
        self, i: HloInstruction, slots: tuple[int, ...], made: EmittedKernels, overrides: Overrides
    ) -> EmittedKernels:
        """Return the kernel with the user's forced and forbidden directives.

        Only a kernel from a single nest can have them.
        """
        nest = made.nest
        if i not in self.scheduled or not isinstance(nest, Schedule) or nest.following is not None:
            return made
        directives = self.scheduled.with_overrides(
            i, nest.start, nest.directives, i.name not in self.schedules, True
        )
        if tuple(directives) == nest.directives:
            return made
        return write_gpu_kernels(
            i, self.kernels.architecture, slots, self.target, directives, overrides
        )

    def _overrides(self, i: HloInstruction) -> Overrides:
        """Return the user's overrides of a kernel.

        `launch` names an emitter or forbids all; `math` names a function and its level.
        """
        forced, forbidden = [
            self.control.values_of(word, "launch", i) for word in ("force", "forbid")
        ]
        levels: dict[str, str] = {}
        for values in self.control.values_of("forbid", "math", i):
            levels[str(values[0]) if values else ""] = "precise"
        for values in self.control.values_of("force", "math", i):
            *function, level = map(str, values)
            levels[function[0] if function else ""] = level
        math = KernelMath(self.kernels.dialect.math or DEFAULT_LEVEL, levels)
        emitters = [
            frozenset([str(values[0]) if values else "" for values in found])
            for found in (forced, forbidden)
        ]
        return Overrides(math, *emitters)

    def _with_constants(
        self, i: HloInstruction, made: EmittedKernels, places: Sequence[BufferSlice]
    ) -> EmittedKernels:
        """Return the kernels with constants in the constant bank if profitable (NVIDIA's GPUs).

        places: of their parameters.
        """
        found = {
            n: p.allocation.instruction
            for n, p in enumerate(places)
            if p.allocation.kind == "constant"
        }
        constants = {n: constant for n, constant in found.items() if constant is not None}
        if not constants or not isinstance(self.kernels.architecture, GpuArchitecture):
            return made
        kernels = []
        overrides = (("force", self.control.forced), ("forbid", self.control.forbidden))
        words = {
            c: word
            for c in constants.values()
            for word, listed in overrides
            if listed("constant-memory", (c, i))
        }
        for kernel in made.kernels:
            placed, placements = self._bank.place(kernel, constants, words)
            kernels.append(placed)
            begin_kernel(i.id)
            record_step(*CONSTANT_BANK, partial(body_lines, placed.kernel.body))
            self.constants += [(i, placement) for placement in placements]
        return made._replace(kernels=tuple(kernels))
