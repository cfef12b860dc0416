"""A kernel as basic blocks of functions, each of which runs one PTX instruction for some lanes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from xla_explorer.backends.gpu.emulator.batch import Batch, Group, Resources
from xla_explorer.backends.gpu.emulator.instructions import memory_instructions as memory
from xla_explorer.backends.gpu.emulator.instructions import warp_instructions as warp
from xla_explorer.backends.gpu.emulator.instructions.arithmetic import comparison_of, operation_of
from xla_explorer.backends.gpu.emulator.instructions.asynchronous_copies import asynchronous_copy
from xla_explorer.backends.gpu.emulator.instructions.bit_operations import BitOperation
from xla_explorer.backends.gpu.emulator.instructions.bulk_copies import bulk_copy
from xla_explorer.backends.gpu.emulator.instructions.conversions import conversion_of
from xla_explorer.backends.gpu.emulator.instructions.memory_barriers import (
    Wait,
    barrier_instruction,
)
from xla_explorer.backends.gpu.emulator.instructions.warpgroup_products import warpgroup_instruction
from xla_explorer.backends.gpu.emulator.memory import GlobalMemory
from xla_explorer.backends.gpu.emulator.operands import (
    Getter,
    Names,
    getter,
    predicate_getter,
    setter,
    vector_parts,
)
from xla_explorer.backends.gpu.emulator.ptx_text import (
    PtxInstruction,
    PtxKernel,
    PtxModule,
    PtxSyntaxError,
    PtxVariable,
    UnsupportedPtxError,
)
from xla_explorer.backends.gpu.emulator.scalar_types import DTYPES, Array
from xla_explorer.foundation.diagnostic import XlaExplorerError

Step = Callable[[Batch, Group], None]
_ENDS = frozenset({"bra", "brx", "ret", "exit", "bar", "barrier", "trap"})
_OF_WHOLE_WARPS = frozenset({"shfl", "vote", "match", "redux", "elect", "mma", "ldmatrix"})
_NOTHING_TO_DO = frozenset(
    {
        "membar",
        "pragma",
        "nanosleep",
        "prefetch",
        "prefetchu",
        "griddepcontrol",
        "setmaxnreg",
        "discard",
    }
)
_COMBINE: dict[str, Callable[[Array, Array], Array]] = {
    "and": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
}


class BarrierUse(NamedTuple):
    """The use of a block barrier by an instruction.

    number, threads: its operands. waits: False for `bar.arrive`. finish: result of `bar.red`, for
    the lanes that continue. plain: the whole block waits at barrier 0.
    """

    number: Getter
    threads: Getter | None
    waits: bool
    finish: Callable[[Batch, Array], None] | None
    plain: bool


class BasicBlock:
    """Instructions start .. end with their terminator.

    kind: `fall`, `jump`, `branch`, `table` (an indirect jump), `barrier`, `wait` (for an mbarrier),
    `gather` (of a warpgroup), `leave`, `trap`. steps: functions of the instructions. numbers: of
    these instructions. A terminator has no step. converges: the first instruction synchronises the
    lanes of a warp.
    """

    __slots__ = (
        "barrier",
        "condition",
        "converges",
        "end",
        "kind",
        "numbers",
        "start",
        "steps",
        "table",
        "target",
        "wait",
    )

    def __init__(self, start: int) -> None:
        self.start = self.end = start
        self.kind = "fall"
        self.target = -1
        self.converges = False
        self.condition: Getter | None = None
        self.barrier: BarrierUse | None = None
        self.wait: Wait | None = None
        self.table: list[int] = []
        self.steps: list[Step] = []
        self.numbers: list[int] = []


class KernelCode:
    """Code of a kernel.

    blocks: by first instruction. names: registers and addresses. resources: of the kernel.
    warps_part: accesses are ordered by more than whole-block barriers: mbarriers, named barriers,
    the async proxy.
    """

    def __init__(self, module: PtxModule, kernel: PtxKernel, device: GlobalMemory) -> None:
        self.kernel = kernel
        self.resources = Resources(kernel.name, kernel.instructions)
        self.statics: list[int] = []
        self.warps_part = any(
            i.opcode.startswith(("mbarrier.", "wgmma.", "cp.async.bulk"))
            for i in kernel.instructions
        )
        try:
            self.names = Names(kernel, self._place(module, device))
            self.blocks = self._blocks()
            self.granules = {space: self._narrowest(space) for space in ("shared", "global")}
        except XlaExplorerError:
            raise
        except Exception as problem:  # arbitrary text: invalid sizes, undeclared names
            message = (
                f"kernel {kernel.name}: its declarations cannot be used: "
                f"{type(problem).__name__}: {problem}"
            )
            raise PtxSyntaxError(
                message, "are all variables and registers declared, with types and sizes of PTX?"
            ) from problem
        self.resources.register_types = self.names.types

    def _place(self, module: PtxModule, device: GlobalMemory) -> dict[str, int]:
        """Return the addresses of the variables that the kernel may use."""
        addresses: dict[str, int] = {
            name: offset for name, (offset, _) in self.kernel.parameters.items()
        }
        mentioned = " ".join([" ".join(i.operands) for i in self.kernel.instructions])
        variables: list[PtxVariable] = [*module.variables.values(), *self.kernel.variables.values()]
        # Shared memory of unknown size (`extern`) comes last, after the rest.
        for v in sorted(variables, key=lambda v: v.space == "shared" and not v.size):
            if v.name not in mentioned:
                continue
            if v.space in ("shared", "local"):
                used = (
                    self.resources.shared_bytes
                    if v.space == "shared"
                    else self.resources.local_bytes
                )
                place = -(-used // v.align) * v.align
                addresses[v.name] = place
                setattr(self.resources, f"{v.space}_bytes", place + v.size)
                continue
            address = device.allocate(v.size, v.name)
            device.write(address, np.frombuffer((v.data or b"").ljust(v.size, b"\0"), np.uint8))
            addresses[v.name] = address
            self.statics.append(address)
        return addresses

    def _narrowest(self, space: str) -> int:
        """Return the bytes of the narrowest access to a state space, generic ones included."""
        widths = [4]
        for i in self.kernel.instructions:
            parts = i.opcode.split(".")
            if parts[0] in ("ld", "ldu", "st", "atom", "red") and memory.state_space(parts) in (
                space,
                "generic",
            ):
                widths.append(DTYPES[memory.element_type(parts)].itemsize)
        return min(widths)

    def _blocks(self) -> dict[int, BasicBlock]:
        code = self.kernel.instructions
        leaders = {0, *self.kernel.labels.values()}
        leaders.update(
            [
                pc + 1
                for pc, i in enumerate(code)
                if i.opcode.split(".")[0] in _ENDS or i.opcode.startswith("wgmma.fence")
            ]
        )
        waits = [pc for pc, i in enumerate(code) if i.opcode.startswith("mbarrier.try_wait")]
        leaders.update([at for pc in waits for at in (pc, pc + 1)])
        together = self._convergence_points(leaders)
        leaders |= together
        blocks: dict[int, BasicBlock] = {}
        block = BasicBlock(0)
        for pc, i in enumerate(code):
            if pc in leaders:
                block = blocks[pc] = BasicBlock(pc)
                block.converges = pc in together
            block.end = pc + 1
            try:
                self._add(block, pc, i)
            except XlaExplorerError:
                raise
            except Exception as problem:  # arbitrary text
                raise PtxSyntaxError(
                    f"PTX line {i.line}: cannot read {i.text!r}",
                    "has the instruction all its operands, does its label exist, and does the "
                    "line before end with `;`?",
                ) from problem
        last = blocks[len(code)] = BasicBlock(len(code))
        last.kind = "leave"
        return blocks

    def _convergence_points(self, leaders: set[int]) -> set[int]:
        """Return the first converging instruction of each basic block.

        Lanes of a warp stay converged up to the next branch.
        """
        found, is_converged = set(), False
        for pc, i in enumerate(self.kernel.instructions):
            is_converged = is_converged and pc not in leaders
            parts = i.opcode.split(".")
            if not is_converged and (
                parts[0] in _OF_WHOLE_WARPS or (parts[0] in ("bar", "barrier") and "warp" in parts)
            ):
                found.add(pc)
                is_converged = True
        return found

    def _add(self, block: BasicBlock, pc: int, i: PtxInstruction) -> None:
        """Add an instruction to a block, as a step or as its terminator."""
        parts = i.opcode.split(".")
        name = parts[0]
        if i.opcode.startswith(("mbarrier.try_wait", "wgmma.fence")):
            self._end_by_wait(block, pc, i, parts)
        elif name == "brx":
            self._end_by_table(block, i)
        elif name in ("bar", "barrier") and "warp" not in parts:
            self._end_by_barrier(block, i, parts)
        elif name in ("bra", "ret", "exit", "trap"):
            self._end_by_jump(block, i, name)
        else:
            step = self._step(pc, i, parts)
            if step is None:
                return
            if i.guard is not None:
                step = _guarded(step, predicate_getter(self.names, i.guard))
            block.steps.append(step)
            block.numbers.append(pc)

    def _end_by_wait(
        self, block: BasicBlock, pc: int, i: PtxInstruction, parts: Sequence[str]
    ) -> None:
        if i.guard is not None:
            raise UnsupportedPtxError(
                f"PTX line {i.line}: the emulator has no {i.text}",
                "branch around it instead of guarding it",
            )
        is_memory_barrier = parts[0] == "mbarrier"
        block.kind = "wait" if is_memory_barrier else "gather"
        block.wait = Wait(self.names, pc, i, parts) if is_memory_barrier else None

    def _end_by_table(self, block: BasicBlock, i: PtxInstruction) -> None:
        if i.guard is not None:
            raise UnsupportedPtxError(f"PTX line {i.line}: the emulator has no guarded brx")
        block.kind, block.condition = "table", getter(self.names, i.operands[0], "u32")
        block.table = [self.kernel.labels[label] for label in self.kernel.tables[i.operands[1]]]

    def _end_by_barrier(self, block: BasicBlock, i: PtxInstruction, parts: Sequence[str]) -> None:
        if i.guard or "cluster" in parts:
            raise UnsupportedPtxError(
                f"PTX line {i.line}: the emulator has no {i.text}",
                "only barriers of a block, without a guard, are emulated",
            )
        block.kind, block.barrier = "barrier", self._barrier(i, parts)
        self.warps_part |= not block.barrier.plain

    def _end_by_jump(self, block: BasicBlock, i: PtxInstruction, name: str) -> None:
        block.kind, block.target = "leave", len(self.kernel.instructions)
        if name == "bra":
            block.kind, block.target = "jump", self.kernel.labels[i.operands[0]]
        elif name == "trap":
            block.kind = "trap"
        if i.guard is not None:
            if name == "trap":
                raise UnsupportedPtxError(f"PTX line {i.line}: the emulator has no guarded trap")
            block.kind, block.condition = "branch", predicate_getter(self.names, i.guard)

    def _barrier(self, i: PtxInstruction, parts: Sequence[str]) -> BarrierUse:
        names, finish, operands = self.names, None, list(i.operands)
        if "red" in parts:
            truth = predicate_getter(names, operands.pop())
            finish = warp.block_reduction(
                setter(names, operands.pop(0)), truth, parts[parts.index("red") + 1]
            )
        number = getter(names, operands[0] if operands else "0", "u32")
        count = getter(names, operands[1], "u32") if len(operands) > 1 else None
        plain = (
            count is None
            and finish is None
            and "arrive" not in parts
            and (not operands or operands[0] == "0")
        )
        return BarrierUse(number, count, "arrive" not in parts, finish, plain)

    def _step(self, pc: int, i: PtxInstruction, parts: Sequence[str]) -> Step | None:
        """Return the function of an instruction, None if it has no effect here."""
        name, names = parts[0], self.names
        if name in _NOTHING_TO_DO:
            return None
        if name == "wgmma":
            return warpgroup_instruction(names, pc, i, parts, self.kernel.instructions)
        make = _STEPS.get(name) or _STEPS.get(".".join(parts[:2]))
        if make is not None:
            return make(names, pc, i, parts)
        operation = conversion_of(parts) if name == "cvt" else operation_of(parts)
        if operation is None:
            raise UnsupportedPtxError(
                f"kernel {self.kernel.name}, PTX line {i.line}: the emulator has no {i.opcode}",
                "run the kernel on a device",
            )
        return _compute(names, i, operation)


def _memory_barrier(names: Names, pc: int, i: PtxInstruction, parts: Sequence[str]) -> Step:
    if parts[1] == "test_wait":
        return Wait(names, pc, i, parts).test
    return barrier_instruction(names, pc, i, parts)


def _copy(names: Names, pc: int, i: PtxInstruction, parts: Sequence[str]) -> Step | None:
    make = bulk_copy if "bulk" in parts else asynchronous_copy
    return make(names, pc, i, parts)


def _proxy_fence(names: Names, pc: int, i: PtxInstruction, parts: Sequence[str]) -> Step | None:
    """Return the step of `fence`; None if it does not concern the async proxy."""
    is_of_proxy = "proxy" in parts and "async" in parts[2]
    return _fence if "mbarrier_init" in parts or is_of_proxy else None


def _fence(batch: Batch, group: Group) -> None:
    """Make stores of these lanes visible to the async proxy."""
    if batch.clocks is not None:
        batch.clocks.fence(batch, batch.lanes_of(group))


def _compute(names: Names, i: PtxInstruction, operation: BitOperation) -> Step:
    function = operation.function
    put = setter(names, i.operands[0])
    gets = [
        predicate_getter(names, text) if kind == "pred" else getter(names, text, kind)
        for text, kind in zip(i.operands[1:], operation.sources, strict=True)
    ]
    if len(gets) == 1:
        only = gets[0]
        return lambda batch, group: put(batch, group, function(only(batch, group.lanes)))
    if len(gets) == 2:
        left, right = gets
        return lambda batch, group: put(
            batch, group, function(left(batch, group.lanes), right(batch, group.lanes))
        )
    return lambda batch, group: put(
        batch, group, function(*[get(batch, group.lanes) for get in gets])
    )


def _move(names: Names, i: PtxInstruction, parts: Sequence[str]) -> Step:
    """Return the step of `mov`, also between a register and its pieces."""
    kind = parts[-1]
    target, origin = i.operands
    dtype = DTYPES["b64" if kind == "b128" else kind]
    if target.startswith("{"):
        pieces = vector_parts(target)
        puts = [setter(names, text) for text in pieces]
        piece = DTYPES[f"b{8 * dtype.itemsize // len(pieces)}"]
        whole = getter(names, origin, kind)

        def unpack(batch: Batch, group: Group) -> None:
            columns = (
                np.ascontiguousarray(whole(batch, group.lanes)).view(piece).reshape(-1, len(puts))
            )
            for k, put in enumerate(puts):
                put(batch, group, columns[:, k].copy())

        return unpack
    put_one = setter(names, target)
    if origin.startswith("{"):
        texts = vector_parts(origin)
        gets = [getter(names, text, f"b{8 * dtype.itemsize // len(texts)}") for text in texts]

        def pack(batch: Batch, group: Group) -> None:
            columns = np.broadcast_arrays(*[get(batch, group.lanes) for get in gets])
            put_one(batch, group, np.stack(columns, -1).view(dtype).reshape(-1))

        return pack
    get = predicate_getter(names, origin) if kind == "pred" else getter(names, origin, kind)
    # A copy, because a later partial write changes the array in place.
    return lambda batch, group: put_one(batch, group, get(batch, group.lanes).copy())


def _compare(names: Names, i: PtxInstruction, parts: Sequence[str]) -> Step:
    """Return the step of `setp`, with optional second output and combination, or of `set`."""
    if parts[0] == "set":
        result = DTYPES[parts[-2]]
        function, kind = comparison_of(parts)
        truth_value = (
            result.type(1.0)
            if parts[-2] == "f32"
            else result.type(-1)
            if result.kind == "i"
            else ~result.type(0)
        )
        operation = BitOperation(
            lambda a, b: np.where(function(a, b), truth_value, result.type(0)),
            (kind, kind),
            parts[-2],
        )
        return _compute(names, i, operation)
    combine = next((_COMBINE[p] for p in parts[2:-1] if p in _COMBINE), None)
    function, kind = comparison_of(parts)
    puts = [setter(names, text.strip()) for text in i.operands[0].split("|")]
    left, right = getter(names, i.operands[1], kind), getter(names, i.operands[2], kind)
    other_of = predicate_getter(names, i.operands[3]) if combine is not None else None

    def test(batch: Batch, group: Group) -> None:
        value = function(left(batch, group.lanes), right(batch, group.lanes))
        for put, outcome in zip(puts, (value, ~value) if len(puts) > 1 else (value,), strict=True):
            if combine is not None and other_of is not None:
                outcome = combine(outcome, other_of(batch, group.lanes))
            put(batch, group, outcome)

    return test


def _guarded(step: Step, condition: Getter) -> Step:
    def run(batch: Batch, group: Group) -> None:
        truth = np.broadcast_to(condition(batch, group.lanes), group.count)
        if truth.all():
            step(batch, group)
        elif truth.any():
            step(batch, Group(batch.lanes, batch.lanes_of(group)[truth]))

    return run


_STEPS: dict[str, Callable[[Names, int, PtxInstruction, Sequence[str]], Step | None]] = {
    "ld": memory.load,
    "ldu": memory.load,
    "st": memory.store,
    "atom": memory.atomic,
    "red": memory.atomic,
    "cvta": lambda names, pc, i, parts: memory.convert_address(names, i, parts),
    "mov": lambda names, pc, i, parts: _move(names, i, parts),
    "set": lambda names, pc, i, parts: _compare(names, i, parts),
    "setp": lambda names, pc, i, parts: _compare(names, i, parts),
    "shfl.sync": warp.shuffle,
    "vote.sync": warp.vote,
    "activemask": lambda names, pc, i, parts: warp.active_mask(names, i),
    "redux": warp.reduce_in_warp,
    "mma": warp.matrix_multiply,
    "ldmatrix": warp.load_matrix,
    "elect": lambda names, pc, i, parts: warp.elect(names, pc, i),
    "match": warp.match,
    "bar": lambda names, pc, i, parts: lambda batch, group: batch.pass_warp_barrier(group),
    "barrier": lambda names, pc, i, parts: lambda batch, group: batch.pass_warp_barrier(group),
    "mbarrier": _memory_barrier,
    "cp.async": _copy,
    "fence": _proxy_fence,
}
"""Makers of steps, by the first part of an opcode or the first two."""
