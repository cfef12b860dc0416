"""What a kernel is, and which writer serves which root."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from xla_explorer.compiler.codegen.elemental import ElementalEmitter, elemental_opcodes
from xla_explorer.compiler.codegen.elemental.complex_functions import COMPLEX_FUNCTIONS
from xla_explorer.compiler.codegen.elemental.emission_count import emission_is_bounded
from xla_explorer.compiler.codegen.elemental.emitter import ArrayInMemory, IndexTuple
from xla_explorer.compiler.codegen.elemental.registry import Scalar
from xla_explorer.compiler.codegen.function_writer import FunctionWriter, metadata_definitions
from xla_explorer.compiler.codegen.ir.effort import Effort
from xla_explorer.compiler.codegen.kernels.shares import Shares
from xla_explorer.compiler.codegen.kernels.thread_number import thread_number
from xla_explorer.compiler.codegen.llvm_types import type_is_emitted
from xla_explorer.compiler.codegen.nest.directives import Directive
from xla_explorer.compiler.codegen.nest.kernel import nest_code
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.target import Target
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.shape import Shape


class Kernel(NamedTuple):
    """A finished kernel function, without its name.

    lines: body (between the braces). origins: for each line the id of the HLO instruction it came from. parameters: number of
    pointer parameters. slots: for each operand leaf, then each output leaf, the number of the parameter that it is.
    threads: number of independent elements (GPU: threads to launch). globals: constant definitions the body refers to.
    tables: read-only data that code generation computed; a parameter `%table<k>` each.
    scratch_bytes: memory of its own that it needs while it runs; when not zero, one more parameter `%scratch` points to it.
    parts: when not one, a last parameter `i64 %part` says which share of the work a call does; each needs its own scratch memory.
    effort: what LLVM's optimiser must do to it.
    phases: calls of each phase (see `Shares.phase`), in the order of `%part`; all of them use the same scratch memory. Empty: no phases.
    nest: the schedule of the loop nest that it was made from, or why it is opaque.
    """

    lines: tuple[str, ...]
    origins: tuple[int | None, ...]
    parameters: int
    slots: tuple[int, ...]
    declarations: tuple[str, ...]
    math: tuple[str, ...]
    globals: tuple[str, ...]
    threads: int
    scratch_bytes: int = 0
    tables: tuple[bytes, ...] = ()
    parts: int = 1
    phases: tuple[int, ...] = ()
    effort: Effort = Effort.DEFAULT
    nest: Schedule | Reason | None = None


class KernelContext:
    """Everything a kernel writer needs: the writer, the root(s), the arrays in memory, and how to iterate."""

    def __init__(self, target: Target, instruction: HloInstruction, slots: tuple[int, ...], parts: int = 1) -> None:
        self.target = target
        self.instruction = instruction
        self.writer = FunctionWriter(unroll=not target.is_launched)
        self.writer.saturates = target.abilities.saturates
        self.writer.keeps_nan_payloads = target.abilities.keeps_nan_payloads
        self.shares = Shares(self.writer, parts)
        self.tables: list[bytes] = []
        self._in_nest = False
        self.globals: dict[str, None] = {}
        self.threads = 1
        self.arrays: dict[HloInstruction, ArrayInMemory] = {}
        self.outputs: list[ArrayInMemory] = []
        is_fusion = instruction.opcode.name == "fusion"
        body = instruction.called[0] if is_fusion else None
        inner = body.parameters() if body is not None else list(dict.fromkeys(instruction.operands))
        written = set(slots[len(inner) :])
        for number, parameter in enumerate(inner):
            if parameter.shape.is_array:
                slot = slots[number]
                # invariant.load holds for the whole program: true of a GPU launch, false of a CPU kernel inlined into a loop.
                invariant = target.abilities.reads_invariant and slot not in written
                self.arrays[parameter] = ArrayInMemory(f"%a{slot}", parameter.shape, target.pointer, invariant)
        for number, (_, leaf) in enumerate(instruction.shape.leaves()):
            self.outputs.append(ArrayInMemory(f"%a{slots[len(inner) + number]}", leaf, target.pointer))
        root = body.root if body is not None else instruction
        self.roots: list[HloInstruction] = list(root.operands) if root.opcode.name == "tuple" else [root]
        if body is not None:
            self._constant_arrays(list(body.instructions.values()))
        self._iteration_start: str | None = None
        self._scratch_bytes = 0

    def scratch(self, size: int) -> str:
        """Address of `size` bytes, aligned to 64, that belong to this kernel while it runs (CPU only)."""
        return self.scratch_address(self.reserve_scratch(size))

    def reserve_scratch(self, size: int) -> int:
        """The same as an offset, for blocks of which none dominates the others: each asks for the address itself."""
        offset = self._scratch_bytes
        self._scratch_bytes += -(-size // 64) * 64
        return offset

    def scratch_address(self, offset: int | str) -> str:
        """Where reserved memory is."""
        return self.writer.value(f"getelementptr inbounds i8, ptr %scratch, i64 {offset}")

    def table(self, data: bytes) -> str:
        """Address of read-only data that the kernel gets beside its operands (CPU only)."""
        if data not in self.tables:
            self.tables.append(data)
        return f"%table{self.tables.index(data)}"

    def _constant_arrays(self, instructions: list[HloInstruction]) -> None:
        """Array constants of the fused computation become private globals."""
        for i in instructions:
            if i.opcode.name == "constant" and i.literal.splat is None and i.shape.is_array:
                data = i.literal.array
                import hashlib

                raw = data.tobytes()
                name = f"@constant_{hashlib.sha256(raw).hexdigest()[:16]}"
                text = "".join([f"\\{byte:02X}" for byte in raw])
                number = self.target.address_space
                space = f"addrspace({number}) " if number else ""
                self.globals[f'{name} = private unnamed_addr {space}constant [{len(raw)} x i8] c"{text}", align 64'] = None
                self.arrays[i] = ArrayInMemory(name, i.shape.base, self.target.pointer, True)

    def emitter(self) -> ElementalEmitter:
        """A fresh emitter that reads the arrays in memory."""
        w = self.writer

        def reader(array: ArrayInMemory) -> Callable[[IndexTuple], Scalar]:
            return lambda index: array.load(w, index)

        return ElementalEmitter(w, {i: reader(array) for i, array in self.arrays.items()})

    @contextmanager
    def iterate(self, extents: list[int], *, cut: bool = True, cut_along: Collection[int] | None = None) -> Iterator[IndexTuple]:
        """Run the block for each index below the extents: nested loops on a CPU, one thread each on a GPU.

        In a kernel with shares one loop of each outermost nest is cut; cut: False when the writer cuts a loop inside itself; cut_along: the
        loops that may be (None: any).
        """
        w = self.writer
        if self.target.is_launched:
            yield from self._threads(extents)
            return
        cut = cut and self.shares.parts > 1 and not self._in_nest
        with ExitStack() as loops:
            outer, self._in_nest = self._in_nest, True
            limits: list[tuple[str | int, str | int]] = [(0, extent) for extent in extents]
            if cut:
                place = self.shares.place_to_cut(extents, cut_along)
                if place is None:
                    loops.enter_context(self.shares.only(0))
                else:
                    limits[place[0]] = self.shares.bounds(extents[place[0]], place[1])
            yield tuple([loops.enter_context(w.loop(end, begin)) for begin, end in limits])
        self._in_nest = outer

    def _threads(self, extents: list[int]) -> Iterator[IndexTuple]:
        w = self.writer
        total = 1
        for extent in extents:
            total *= extent
        self.threads = max(self.threads, total)
        if self._iteration_start is None:
            self._iteration_start = thread_number(w, self.target)
        linear = self._iteration_start
        inside, end = w.fresh_label("thread"), w.fresh_label("thread.end")
        w.branch_if(w.value(f"icmp ult i64 {linear}, {total}"), inside, end)
        w.start_block(inside)
        index: list[str | int] = []
        rest = total
        for position, extent in enumerate(extents):
            rest //= extent
            if extent == 1:
                index.append(0)
                continue
            quotient = w.div(linear, rest)
            index.append(quotient if position == 0 else w.mod(quotient, extent))
        yield tuple(index)
        w.branch(end)
        w.start_block(end)

    def finish(self, slots: tuple[int, ...]) -> Kernel:
        """The finished kernel."""
        self.writer.do("ret void")
        lines, origins = self.writer.body_lines()
        self.globals.update(metadata_definitions(lines))
        return Kernel(
            tuple(lines),
            tuple(origins),
            max(slots, default=-1) + 1,
            slots,
            tuple(self.writer.declarations),
            tuple(self.writer.uses_math),
            tuple(self.globals),
            self.threads,
            self._scratch_bytes,
            tuple(self.tables),
            self.shares.parts,
            tuple(self.shares.phases),
            self.writer.effort,
        )


KernelWriter = Callable[[KernelContext], None]
ROOT_WRITERS: dict[str, KernelWriter] = {}
STANDALONE: set[str] = set()  # opcodes that may be a kernel's only instruction but not stand inside a fusion
PARALLEL: set[str] = set()  # opcodes whose outermost nests do not depend on one another, so that they may be cut into shares
SEQUENTIAL: set[str] = set()  # opcodes whose kernels are sequential code for a CPU (scratch memory, loops that depend on data)


def writes_root(
    *opcodes: str, standalone: bool = False, sequential: bool = False, parallel: bool = False
) -> Callable[[KernelWriter], KernelWriter]:
    """Register the kernel writer of a root opcode; see STANDALONE, SEQUENTIAL and PARALLEL."""

    def declare(function: KernelWriter) -> KernelWriter:
        for name in opcodes:
            ROOT_WRITERS[name] = function
            if standalone:
                STANDALONE.add(name)
            if sequential:
                SEQUENTIAL.add(name)
            if parallel:
                PARALLEL.add(name)
        return function

    return declare


def load_kernel_writers() -> None:
    """Import the modules that register a writer, once; the first question about a kernel does."""
    from xla_explorer.compiler.codegen.kernels import (  # noqa: F401
        contraction,
        fourier_transform,
        gather,
        loop,
        pieces,
        random_bits,
        reduction,
        scatter,
        select_and_scatter,
        sorting,
        topk,
        update,
        window,
    )


def kernel_slots(instruction: HloInstruction, same: Callable[[int], int] | None = None) -> tuple[int, ...]:
    """Parameter numbers when nothing is shared: each operand leaf and each output leaf its own."""
    operands = len(instruction.called[0].parameters()) if instruction.opcode.name == "fusion" else len(dict.fromkeys(instruction.operands))
    return tuple(range(operands + len(list(instruction.shape.leaves()))))


def kernel_is_emitted(i: HloInstruction, target_kind: str = "cpu") -> Reason | None:
    """None when a native kernel can be written for the instruction (a fusion: for all that is inside it)."""
    load_kernel_writers()
    if target_kind != "cpu" and i.opcode.name in SEQUENTIAL:
        return refuse("sequential-kernel", f"%{i.name}: the kernel of {i.opcode.name} is sequential code for a CPU", opcode=i.opcode.name)
    if i.opcode.name == "fusion" and i.attributes.get("kind") == "kOutput":
        return _epilogue_is_emitted(i, target_kind)
    if i.opcode.name == "fusion":
        inside = elemental_opcodes() | {"parameter", "constant"}
        root = i.called[0].root
        roots = set(root.operands) if root.opcode.name == "tuple" else {root}
        for inner in i.called[0].instructions.values():
            name = inner.opcode.name
            # A kernel of its own only for a single root that nothing else in the fusion reads.
            alone = inner is root and not inner.users and name in ROOT_WRITERS and name not in STANDALONE
            if name not in inside and not alone and not (inner is root and name == "tuple"):
                return refuse("opcode-not-emitted", f"%{inner.name}: {name} has no emitter inside a fusion", opcode=name)
            if (reason := _instruction_is_emitted(inner, inner in roots)) is not None:
                return reason
        return emission_is_bounded(i.called[0])
    if i.opcode.name not in elemental_opcodes() and i.opcode.name not in ROOT_WRITERS:
        return refuse("opcode-not-emitted", f"%{i.name}: {i.opcode.name} has no emitter yet", opcode=i.opcode.name)
    for operand in i.operands:
        if (reason := _shape_is_emitted(operand.shape)) is not None:
            return reason
    return _instruction_is_emitted(i, True)


def _epilogue_is_emitted(fusion: HloInstruction, target_kind: str) -> Reason | None:
    """None for a dot and what the writer of its tiles does to them."""
    from xla_explorer.compiler.codegen.kernels.dot_epilogue import belongs_into_epilogue, epilogue_dot

    dot = epilogue_dot(fusion)
    if dot is None or target_kind != "cpu":
        return refuse("opcode-not-emitted", f"%{fusion.name}: only a dot on a CPU has an epilogue", opcode="fusion")
    for i in fusion.called[0].instructions.values():
        if i is not dot and i.opcode.name not in ("parameter", "constant") and (reason := belongs_into_epilogue(i, dot)) is not None:
            return reason
    return None


def _shape_is_emitted(shape: Shape) -> Reason | None:
    if shape.is_tuple or not (shape.is_array or shape.element_type is None):
        return refuse("shape-not-emitted", f"{shape} is not an array", shape=shape.text)
    return type_is_emitted(shape)


ROOT_CHECKS: dict[str, Callable[[HloInstruction], Reason | None]] = {}
_COMPLEX_ALLOWED = (
    frozenset(
        [
            "add",
            "subtract",
            "multiply",
            "divide",
            "maximum",
            "minimum",
            "negate",
            "abs",
            "sign",
            "real",
            "imag",
            "complex",
            "convert",
            "select",
            "copy",
            "broadcast",
            "reshape",
            "bitcast",
            "transpose",
            "slice",
            "pad",
            "concatenate",
            "reverse",
            "gather",
            "dynamic-slice",
            "dynamic-update-slice",
            "constant",
            "parameter",
            "compare",
            "iota",
            "tuple",
            "fusion",
            "dot",
            "fft",
            "reduce",
            "reduce-window",
            "scatter",
            "sort",
            "convolution",
            "opt-barrier",
            "map",
        ]
    )
    | COMPLEX_FUNCTIONS
)


def _instruction_is_emitted(i: HloInstruction, is_root: bool) -> Reason | None:
    reason = type_is_emitted(i.shape)
    if reason is not None:
        return reason
    name = i.opcode.name
    if (reason := _complex_is_emitted(i)) is not None:
        return reason
    if name == "bitcast" and _width(i) != _width(i.operands[0]):
        return refuse("bitcast-changes-width", f"%{i.name} makes {i.shape} of {i.operands[0].shape}", shape=i.shape.text)
    if name == "power" and i.shape.element_type.is_pred:
        return refuse("power-not-emitted", f"%{i.name}: power of {i.shape.element_type} has no emitter yet")
    for computation in i.called:
        if name in ("map", "reduce", "scatter", "sort", "reduce-window", "select-and-scatter"):
            for inner in computation.instructions.values():
                if inner.opcode.name not in elemental_opcodes() | {"parameter", "constant", "tuple"}:
                    return refuse("reducer-not-emitted", f"%{i.name} calls %{computation.name}, whose {inner.opcode.name} has no emitter")
                if (reason := type_is_emitted(inner.shape) or _complex_is_emitted(inner)) is not None:
                    return reason
    if name == "reduce" and not is_root and len(i.operands) != 2:
        return refuse("variadic-reduce-inside-fusion", f"%{i.name} reduces several operands inside a fusion")
    check = ROOT_CHECKS.get(name)
    return check(i) if check is not None else None


def _width(i: HloInstruction) -> tuple[int, bool]:
    return i.shape.element_type.bits, i.shape.element_type.is_complex


def _complex_is_emitted(i: HloInstruction) -> Reason | None:
    """None unless the instruction deals in complex numbers and its opcode has no emitter for them."""
    name = i.opcode.name
    involved = [i.shape, *[o.shape for o in i.operands]]
    if name not in _COMPLEX_ALLOWED and any(s.element_type is not None and s.element_type.is_complex for s in involved):
        return refuse("complex-not-emitted", f"%{i.name}: {name} of complex numbers has no emitter yet", opcode=name)
    return None


def write_kernel(i: HloInstruction, target: Target, slots: tuple[int, ...] | None = None, parts: int = 1) -> Kernel:
    """Write the kernel of a fusion or a lone instruction. slots: see `Kernel.slots`; shared numbers mean shared memory.

    parts: cut it into so many shares (CPU). The kernel's `parts` is 1 where it is not possible.
    """
    slots = slots if slots is not None else kernel_slots(i)
    made = nest_kernel(i, target, slots, parts)
    return made if isinstance(made, Kernel) else write_opaque_kernel(i, target, slots, parts, why=made)


def nest_kernel(i: HloInstruction, target: Target, slots: tuple[int, ...], parts: int = 1,
                directives: Iterable[Directive] | None = None) -> Kernel | Reason:
    """The kernel as it is made from its loop nest, or a Reason why it stays opaque. directives: instead of the policy's."""
    code = nest_code(i, target, slots, parts, directives)
    if isinstance(code, Reason):
        return code
    return Kernel(code.lines, code.origins, max(slots, default=-1) + 1, slots, code.declarations, (), (), 1, parts=code.shares,
                  effort=code.effort, nest=code.schedule)


def write_opaque_kernel(i: HloInstruction, target: Target, slots: tuple[int, ...], parts: int = 1,
                        why: Reason | None = None) -> Kernel:
    """The kernel by the writer of its root, which no nest describes. why: none does."""
    load_kernel_writers()
    context = KernelContext(target, i, slots, parts)
    context.writer.origin = i.id
    root = context.roots[0]
    name = root.opcode.name if len(context.roots) == 1 and root.opcode.name in ROOT_WRITERS else "loop"
    if i.opcode.name == "fusion" and i.attributes.get("kind") == "kOutput":
        name = "dot"
    if parts > 1 and name not in PARALLEL:
        return write_opaque_kernel(i, target, slots, why=why)
    with context.writer.from_instruction(root.id):
        ROOT_WRITERS[name](context)
    if parts > 1 and not context.shares.cut:
        return write_opaque_kernel(i, target, slots, why=why)
    return context.finish(slots)._replace(nest=why)
