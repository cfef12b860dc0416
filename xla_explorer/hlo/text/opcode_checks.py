"""Checks of single opcodes beyond their syntax, as in XLA's parser.

Source: hlo_parser.cc CreateInstruction.
"""

from __future__ import annotations

from xla_explorer.hlo.attributes import Attributes
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import OpcodeSpec
from xla_explorer.hlo.shape import Shape
from xla_explorer.hlo.text.async_sugar import run_on_thread
from xla_explorer.hlo.text.errors import TextError
from xla_explorer.hlo.text.operand_checks import CHECKS, InstructionParts, objection
from xla_explorer.hlo.text.shape_text import read_shape, same_dimensions

_OWN = frozenset({"conditional", "async-start", "async-update", "async-done", "custom-call"})
CHECKED_OPCODES = _OWN | CHECKS.keys()


class OpcodeChecks:
    """Checks of the opcodes of one text.

    asynchronous: computations that an async-start runs; each has only one.
    """

    def __init__(self) -> None:
        self.asynchronous: set[HloComputation] = set()

    def check(
        self,
        spec: OpcodeSpec,
        shape: Shape,
        operands: tuple[HloInstruction, ...],
        attributes: Attributes,
        called: tuple[HloComputation, ...],
        tail: str,
        at: int,
    ) -> None:
        """Check an instruction of `CHECKED_OPCODES`; TextError at the opcode.

        tail: the text of its attributes.
        """
        given = InstructionParts(shape, operands, attributes, called)
        message = objection(spec.name, given)
        if message is not None:
            raise TextError(message, at, f"{spec.name}: {spec.summary}", len(spec.name))
        if spec.name in _OWN:
            found = self._own_checks(spec, given, tail)
            if found is not None:
                raise TextError(found[0], at, found[1], len(spec.name))

    def _own_checks(
        self, spec: OpcodeSpec, given: InstructionParts, tail: str
    ) -> tuple[str, str] | None:
        if spec.name == "conditional":
            return _conditional(given, tail)
        if spec.name == "custom-call":
            return _custom_call(given)
        if spec.name == "async-start":
            return self._async_start(given)
        return _async_step(spec, given)

    def _async_start(self, given: InstructionParts) -> tuple[str, str] | None:
        shape, called = given.shape, given.called[0]
        if not shape.is_tuple or len(shape.tuple_shapes) < 2 or not shape.tuple_shapes[0].is_tuple:
            return (
                "async-start expects the shape ((operands), result, context...)",
                "write for example ((f32[4]), f32[4], s32[])",
            )
        if called in self.asynchronous:
            return (
                f"computation {called.name} is called by more than one async-start",
                "give each async-start its own computation",
            )
        self.asynchronous.add(called)
        if "async_execution_thread" in given.attributes:
            run_on_thread(called, given.attributes["async_execution_thread"])
        return None


# Each of these returns (message, hint) of what is wrong.
def _conditional(given: InstructionParts, tail: str) -> tuple[str, str] | None:
    selector = given.operands[0].shape if given.operands else None
    if (
        selector is None
        or not selector.is_scalar
        or selector.element_type.name not in ("pred", "s32")
    ):
        return (
            "the first operand of a conditional must be a scalar of PRED or S32",
            "select a branch by pred[] or s32[]",
        )
    if selector.element_type.is_pred and ", branch_computations=" in tail:
        return (
            'unexpected attribute "branch_computations"',
            "a pred selector goes with true_computation= and false_computation=",
        )
    return None


def _custom_call(given: InstructionParts) -> tuple[str, str] | None:
    constraints = given.attributes.get("operand_layout_constraints")
    if constraints is None or not constraints.startswith("{"):
        return None
    parts = read_shape(f"({constraints[1:-1]})", 0)[0].tuple_shapes
    if len(parts) != len(given.operands):
        return (
            f"Expected {len(given.operands)} operand layout constraints, {len(parts)} given",
            "give one shape for each operand",
        )
    for wanted, operand in zip(parts, given.operands, strict=True):
        if not same_dimensions(wanted, operand.shape):
            return (
                (
                    f"Operand layout constraint shape {wanted} is not compatible with operand "
                    f"shape {operand.shape}"
                ),
                "a constraint repeats the shape of its operand, with the required layout",
            )
    return None


def _async_step(spec: OpcodeSpec, given: InstructionParts) -> tuple[str, str] | None:
    """Check an async-update or async-done."""
    start = given.operands[0] if given.operands else None
    if start is None or start.opcode.name not in ("async-start", "async-update"):
        return (
            f"{spec.name} expects one asynchronous operation as its operand",
            "pass the async-start or async-update it belongs to",
        )
    if spec.name == "async-update" and given.shape is not start.shape:
        return f"async-update has the shape of its operand, {start.shape}", "state that shape"
    thread = start.attributes.get("async_execution_thread")
    own = given.attributes.get("async_execution_thread")
    if own is not None and own != (thread or '"main"'):
        return (
            (
                f"async_execution_thread is {own}, but {thread or 'main'} at the start of the "
                "operation"
            ),
            "use one thread for all steps",
        )
    return None
