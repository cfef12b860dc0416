"""The basis of policies: a target's numbers, a schedule in progress, queries about loops."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from xla_explorer.compiler.codegen.llvm_types import value_type
from xla_explorer.compiler.codegen.nest.directives import (
    Directive,
    DirectiveRefusedError,
    OverlapTail,
    Parallel,
    Split,
    Unroll,
    Vectorize,
)
from xla_explorer.compiler.codegen.nest.directives.base import is_collapsible
from xla_explorer.compiler.codegen.nest.ir import (
    AxisKind,
    Body,
    Compute,
    For,
    Iota,
    Load,
    LoopNest,
    Statement,
    Store,
    elements_of,
    walk,
)
from xla_explorer.compiler.codegen.nest.rewriting import overwrites
from xla_explorer.compiler.codegen.nest.schedule import Schedule
from xla_explorer.compiler.codegen.vector_math import vector_math_opcodes
from xla_explorer.compiler.target import Target
from xla_explorer.hlo.analysis.indexing import Axis, IndexExpression, RuntimeValue
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.primitive_type import PrimitiveType

STREAMED_BYTES = 32 << 20  # more than a core's part of the last-level cache
STREAMED_TRANSPOSE_BYTES = 4 << 20
NEVER = 1 << 62  # more bytes than an array has
FUNCTIONS = frozenset(vector_math_opcodes()) - {"sqrt"}


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """The numbers behind the decisions of policies.

    Attributes
    ----------
    register_bytes : int
        Of a vector register, 0 if LLVM vectorises.
    masks : frozenset of int
        Bytes of elements that the target loads and stores under a mask in one instruction.
    interleave : int
        Registers of each value in cheap code.
    cheap_statements : int
        The most statements of cheap code.
    interleave_functions : int
        Registers of each value in code with mathematical functions.
    most_statements : int
        A limit of code size: statements times unrolled instances.
    streamed_bytes : int
        The least bytes of a result with non-temporal stores.
    streamed_transpose_bytes : int
        The same of a transposed result, whose lines conflict in cache sets if extents are powers of
        two.
    registers : int
        Of the target.
    fused : bool
        The target has fused multiply-adds.
    overlaps_tails : bool
        Steps may be repeated, because no result aliases an operand.
    """

    register_bytes: int = 64
    masks: frozenset[int] = frozenset({1, 2, 4, 8})
    interleave: int = 4
    cheap_statements: int = 12
    interleave_functions: int = 1
    most_statements: int = 600
    streamed_bytes: int = field(default_factory=lambda: STREAMED_BYTES)
    streamed_transpose_bytes: int = field(default_factory=lambda: STREAMED_TRANSPOSE_BYTES)
    registers: int = 32
    fused: bool = True
    overlaps_tails: bool = True


def tuning_of(target: Target, i: HloInstruction | None = None) -> Tuning:
    """Return the numbers of a CPU.

    i: the kernel; x86-64 has non-temporal stores for a result that no other kernel reads.
    """
    vector = target.vector
    tuning = Tuning(
        register_bytes=vector.bytes,
        masks=vector.masks,
        registers=vector.registers,
        fused=vector.fma,
    )
    if i is not None and target.abilities.streams and leaves_the_program(i):
        return tuning
    return replace(tuning, streamed_bytes=NEVER, streamed_transpose_bytes=NEVER)


def leaves_the_program(i: HloInstruction) -> bool:
    """Return True if no other kernel reads the result; a loop's next iteration is a reader."""
    passed_on = [
        user.opcode.name == "tuple"
        or (user.opcode.name == "get-tuple-element" and leaves_the_program(user))
        for user in i.users
    ]
    return i.parent.is_entry and all(passed_on)


class Plan:
    """A schedule in progress.

    Raises a DirectiveRefusedError if a directive of the policy is not legal; directives of users
    pass the same checks.
    """

    def __init__(self, plain: LoopNest, tuning: Tuning) -> None:
        self.plain, self.nest, self.tuning = plain, plain, tuning
        self.directives: list[Directive] = []

    def beginning(self, tuning: Tuning) -> Plan:
        """Return another plan that starts with the directives of this one.

        tuning: of the other plan.
        """
        plan = Plan(self.plain, tuning)
        plan.nest, plan.directives = self.nest, [*self.directives]
        return plan

    def do(self, directive: Directive) -> None:
        """Apply a directive; lanes that are not contiguous in memory are marked `strided`."""
        try:
            self.nest = directive.applied(self.nest)
        except DirectiveRefusedError as refused:
            if not isinstance(directive, Vectorize) or refused.reason.code != "strided-access":
                raise
            directive = replace(directive, strided=True)
            self.nest = directive.applied(self.nest)
        self.directives.append(directive)

    def parallelize(self, tasks: int) -> None:
        """Make each long outermost loop parallel; the last task executes the others."""
        for s in self.nest.body:
            if (
                isinstance(s, For)
                and s.kind is AxisKind.SERIAL
                and s.axis.extent >= tasks > 1
                and not overwrites(self.nest, s)
            ):
                self.do(Parallel(s.axis.name, tasks))

    def schedule(self) -> Schedule:
        """Return the planned schedule."""
        return Schedule(self.plain, self.nest, tuple(self.directives))


def accesses(nest: LoopNest, body: Body) -> list[tuple[Load | Store, IndexExpression]]:
    """Return every load and store with its offset in elements."""
    return [(s, nest.offset_of(s)) for s, _ in walk(body) if isinstance(s, (Load, Store))]


def has_masks(plan: Plan, body: Body) -> bool:
    """Return True if the target has masked loads and stores for all accesses of a body."""
    arrays = [plan.nest.array(s.array) for s, _ in walk(body) if isinstance(s, (Load, Store))]
    sizes = {
        a.shape.element_type.bytes // (2 if a.shape.element_type.is_complex else 1)
        for a in arrays
        if a is not None
    }
    return sizes <= plan.tuning.masks


def tail_may_overlap(plan: Plan, name: str) -> bool:
    """Return True if the last block of an axis may start earlier, so that no tail remains.

    Non-temporal stores must not be repeated.
    """
    streamed = all(
        a.shape.byte_size >= plan.tuning.streamed_bytes // 2 for a in plan.nest.arrays if a.written
    )
    loop = plan.nest.loop(name)
    if loop is None or is_looked_up(
        loop.body
    ):  # rows at data-dependent addresses are prefetched by whole iterations
        return False
    return (
        plan.tuning.overlaps_tails
        and not streamed
        and OverlapTail(name, 1).steps_are_repeatable(plan.nest) is None
    )


def is_looked_up(body: Body) -> bool:
    """Return True if the address of a load is known only at run time."""
    return any(
        isinstance(s, Load) and any(isinstance(a, RuntimeValue) for x in s.place for a in x.atoms())
        for s, _ in walk(body)
    )


def in_blocks(plan: Plan, name: str, size: int) -> Directive:
    """Return the directive that splits an axis into blocks, at least one."""
    return (
        Split(name, size)
        if plan.nest.axes()[name].axis.extent % size == 0
        else OverlapTail(name, size)
    )


def vectorize_interleaved(plan: Plan, name: str, lanes: int, interleave: int) -> None:
    """Turn an axis into vector registers, `interleave` of them."""
    if interleave > 1:
        plan.do(Split(name, lanes))
        plan.do(Unroll(f"{name}o"))
        name += "i"
    plan.do(Vectorize(name))


def in_registers(plan: Plan, name: str, lanes: int, interleave: int) -> None:
    """Split an axis into whole vector registers."""
    plan.do(Split(name, lanes * interleave))
    vectorize_interleaved(plan, f"{name}i", lanes, interleave)


def chain_of(loop: For) -> list[For]:
    """Return perfectly nested loops, outermost first."""
    found = [loop]
    while len(found[-1].body) == 1 and isinstance(inner := found[-1].body[0], For):
        found.append(inner)
    return found


def collapses(nest: LoopNest, body: Body, outer: Axis, inner: Axis) -> bool:
    """Return True if all accesses treat both axes as one axis.

    An axis without iterations has no period.
    """
    if not inner.extent:
        return False
    indices = [offset for _, offset in accesses(nest, body)] + [
        s.index for s, _ in walk(body) if isinstance(s, Iota)
    ]
    return all(is_collapsible(x, outer, inner) for x in indices)


def width_of(element: PrimitiveType) -> int:
    """Return the bytes of a lane in the registers in which an element computes."""
    if element.is_pred:
        return 1
    t = value_type(element)
    return max(t.computes_in.bits // 8, 1) * (2 if element.is_complex else 1)


def widest(statements: list[Statement]) -> int:
    """Return the bytes of the widest lane among the values of statements."""
    return max(map(width_of, {t for s in statements for t in elements_of(s)}), default=1)


def width_in_memory(nest: LoopNest, s: Load | Store) -> int:
    """Return the bytes of an element that is loaded or stored."""
    array = nest.array(s.array)
    assert array is not None
    return array.shape.element_type.bytes


def statements_of(body: Body) -> list[Statement]:
    """Return all statements of a body except loops."""
    return [s for s, _ in walk(body) if not isinstance(s, For)]


def calls_functions(statements: list[Statement]) -> bool:
    """Return True if code calls mathematical functions."""
    return any(isinstance(s, Compute) and s.opcode.name in FUNCTIONS for s in statements)


def lanes_for(nest: LoopNest, statements: list[Statement], tuning: Tuning) -> int:
    """Return the lanes of a register of the widest elements in memory.

    Values that compute in wider types use at most two registers.
    """
    memory = [width_in_memory(nest, s) for s in statements if isinstance(s, (Load, Store))]
    return max(
        min(tuning.register_bytes // max(memory), 2 * tuning.register_bytes // widest(statements)),
        2,
    )
