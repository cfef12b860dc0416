"""Constraints of instructions: C1 to C6 for every opcode, then those of its row.

Each is a function of one instruction that returns None or a Reason. It reads only shapes,
attributes and signatures of called computations, so `reasons_against` shares the result between
instructions that agree in these.
"""

from __future__ import annotations

from functools import lru_cache

from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.layout import Layout
from xla_explorer.hlo.opcodes import CONSTANT, OpcodeSpec
from xla_explorer.hlo.opcodes.spec import Constraint
from xla_explorer.hlo.shape import Shape, ShapeError
from xla_explorer.hlo.verifier.layouts import option_checks
from xla_explorer.hlo.verifier.options import DEFAULT_OPTIONS, VerifierOptions
from xla_explorer.hlo.verifier.precision import (
    agrees_up_to_precision,
    differs_in_precision_alone,
    mixed_precision,
)

# These may state a wider (or narrower) element type than their operands': the accumulator's type.
_ACCUMULATE_IN_STATED_TYPE = frozenset({"dot", "ragged-dot", "convolution"})


def operand_count(i: HloInstruction) -> Reason | None:
    """Require the opcode's number of operands."""
    arity, count = i.opcode.arity, len(i.operands)
    if arity is not None and arity != count:
        return refuse(
            "operand-count",
            f"takes {arity} operand{'s' if arity != 1 else ''}, got {count}",
            wanted=arity,
            found=count,
        )
    return None


def required_attributes(i: HloInstruction) -> Reason | None:
    """Require the attributes without a default."""
    # An empty list equals its default and is not stored, so only attributes without a default can
    # be absent.
    for name in i.opcode.required:
        if name not in i.attributes:
            try:
                default = i.attributes.value(name)
            except KeyError:
                default = None
            if default is None:
                return refuse("attribute-absent", f"attribute {name} is absent")
    return None


def called_computations(i: HloInstruction) -> Reason | None:
    """Require one called computation for each role."""
    roles, count = i.opcode.called, len(i.called)
    name = i.opcode.name
    if name in ("conditional", "custom-call"):
        if name == "conditional" and count == 0:
            return refuse("called-count", "needs at least one branch")
        return None
    if count != len(roles):
        return refuse(
            "called-count",
            f"calls {count} computation{'s' if count != 1 else ''}, it must call "
            f"{len(roles)}{' (' + ', '.join(roles) + ')' if roles else ''}",
        )
    return None


def inferred_shape(i: HloInstruction) -> Shape | None:
    """Return the shape from the opcode's rule, None without a rule.

    ShapeError if operands and attributes do not fit.
    """
    rule = i.opcode.shape_rule
    return (
        rule(tuple([operand.shape for operand in i.operands]), i.attributes, i.called)
        if rule is not None
        else None
    )


def operands_fit(i: HloInstruction) -> Reason | None:
    """Require operands, attributes and called computations that fit the opcode's shape rule."""
    try:
        inferred_shape(i)
    except ShapeError as error:
        return refuse("operands-do-not-fit", str(error))
    except KeyError as error:
        return refuse("attribute-absent", str(error.args[0]))
    return None


def stated_shape(i: HloInstruction) -> Reason | None:
    """Require the stated result shape to be the inferred one; layouts may differ.

    Some opcodes may state another element type.
    """
    wanted = inferred_shape(i)
    found = i.shape
    if wanted is None or _same(wanted, found):
        return None
    if (
        i.opcode.name == "scan"
        and found.is_array
        and len(wanted.tuple_shapes) == 1
        and _same(wanted.tuple_shapes[0], found)
    ):
        return None  # a single result may omit its tuple
    if (
        i.opcode.name in _ACCUMULATE_IN_STATED_TYPE
        and found.is_array
        and found.dimensions == wanted.dimensions
    ):
        return None
    return refuse(
        "result-shape",
        f"the result is stated as {found.text_without_layout}, the operands give "
        f"{wanted.text_without_layout}",
        stated=found.text,
        inferred=wanted.text,
    )


def _same(wanted: Shape, found: Shape) -> bool:
    return wanted.base is found.base or _agree(wanted, found)


def _agree(wanted: Shape, found: Shape) -> bool:
    """Return True if shapes agree up to dynamic dimensions.

    Bounded dimensions may become static, unbounded ones may get any size.
    """
    if wanted.is_tuple or found.is_tuple:
        return (
            wanted.is_tuple
            and found.is_tuple
            and len(wanted.tuple_shapes) == len(found.tuple_shapes)
            and all(
                _same(a, b) for a, b in zip(wanted.tuple_shapes, found.tuple_shapes, strict=True)
            )
        )
    return (
        wanted.element_type is found.element_type
        and wanted.rank == found.rank
        and (any(wanted.dynamic) or any(found.dynamic))
        and all(
            a == b or a < 0 or b < 0
            for a, b in zip(wanted.dimensions, found.dimensions, strict=True)
        )
    )


def layouts_are_permutations(i: HloInstruction) -> Reason | None:
    """Require every layout in the result shape to be a permutation of the dimensions."""
    if layout_is_permutation(i.shape):
        return None
    for index, leaf in i.shape.leaves():
        if leaf.is_array and not _is_permutation(leaf.layout, leaf.rank):
            place = f" at {{{','.join(map(str, index))}}}" if index else ""
            return refuse(
                "layout-not-a-permutation",
                f"layout {leaf.layout!r} of {leaf.text_without_layout}{place} must be a "
                "permutation of "
                f"its {leaf.rank} dimensions",
            )
    return None


@lru_cache(maxsize=1 << 14)
def layout_is_permutation(shape: Shape) -> bool:
    """Return True if each leaf's minor-to-major order is a permutation of its dimensions."""
    return all(
        not leaf.is_array or _is_permutation(leaf.layout, leaf.rank) for _, leaf in shape.leaves()
    )


def _is_permutation(order: Layout, rank: int) -> bool:
    return (order.is_default and len(order.minor_to_major) == rank) or sorted(
        order.minor_to_major
    ) == list(range(rank))


def literal_has_the_shape(i: HloInstruction) -> Reason | None:
    """Require the literal of a constant to have the stated shape."""
    literal = i.payload
    if literal is None or literal.shape.base is not i.shape.base:
        found = "absent" if literal is None else f"a {literal.shape.text_without_layout}"
        return refuse(
            "literal-shape",
            f"the literal is {found}, the constant is stated as {i.shape.text_without_layout}",
        )
    return None


STANDARD: tuple[Constraint, ...] = (
    operand_count,
    required_attributes,
    called_computations,
    operands_fit,
    stated_shape,
    layouts_are_permutations,
)


def constraints_of(spec: OpcodeSpec) -> list[tuple[str, str]]:
    """Return (code, sentence) of each constraint of an opcode, in the order of their numbers."""
    own = (*spec.constraints, literal_has_the_shape) if spec is CONSTANT else spec.constraints
    return [
        (f"{spec.name}-C{number}", (check.__doc__ or check.__name__).strip().splitlines()[0])
        for number, check in enumerate((*STANDARD, *own), 1)
    ]


def reasons_against(
    i: HloInstruction, options: VerifierOptions = DEFAULT_OPTIONS
) -> tuple[tuple[str, str], ...]:
    """Return (code, message) of every constraint that the instruction breaks.

    C1 to C3 are prerequisites: after one of them fails, only the layouts are checked.
    """
    found: list[tuple[str, str]] = []
    sound = True
    for number, check in enumerate(STANDARD, 1):
        if not sound and check is not layouts_are_permutations:
            continue
        reason = check(i)
        if options.allow_mixed_precision:
            if reason is not None and check is stated_shape:
                wanted = inferred_shape(i)
                if wanted is not None and agrees_up_to_precision(
                    i, wanted, layout_sensitive=options.layout_sensitive
                ):
                    reason = None
        elif reason is None and check is operands_fit:
            reason = mixed_precision(i)
        if reason is not None:
            found.append((f"{i.opcode.name}-C{number}", reason.message))
            sound = False
    if sound:
        for number, check in enumerate(i.opcode.constraints, len(STANDARD) + 1):
            reason = check(i)
            if reason is not None and not (
                options.allow_mixed_precision and differs_in_precision_alone(i, reason)
            ):
                found.append((f"{i.opcode.name}-C{number}", reason.message))
                break
        found += [
            (code, reason.message)
            for code, check in option_checks(options)
            if (reason := check(i)) is not None
        ]
    return tuple(found)
