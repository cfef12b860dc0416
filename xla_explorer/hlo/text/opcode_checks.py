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
from xla_explorer.hlo.text.errors import TextProblem
from xla_explorer.hlo.text.operand_checks import CHECKS, Given, objection
from xla_explorer.hlo.text.shape_text import read_shape, same_dimensions

_OWN = frozenset({"conditional", "async-start", "async-update", "async-done", "custom-call"})
CHECKED_OPCODES = _OWN | CHECKS.keys()


class OpcodeChecks:
    """Remembers which computations run asynchronously: each is started by one instruction."""

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
        """Of one of `CHECKED_OPCODES`, with the text of its attributes.

        TextProblem at the opcode.
        """
        message = objection(spec.name, Given(shape, operands, attributes, called))
        if message is not None:
            raise TextProblem(message, at, f"{spec.name}: {spec.summary}", len(spec.name))
        if spec.name in _OWN:
            self._own_checks(spec, shape, operands, attributes, called, tail, at)

    def _own_checks(
        self,
        spec: OpcodeSpec,
        shape: Shape,
        operands: tuple[HloInstruction, ...],
        attributes: Attributes,
        called: tuple[HloComputation, ...],
        tail: str,
        at: int,
    ) -> None:

        def refuse(message: str, hint: str) -> None:
            raise TextProblem(message, at, hint, len(spec.name))

        if spec.name == "conditional":
            selector = operands[0].shape if operands else None
            if (
                selector is None
                or not selector.is_scalar
                or selector.element_type.name not in ("pred", "s32")
            ):
                refuse(
                    "the first operand of a conditional must be a scalar of PRED or S32",
                    "select a branch by pred[] or s32[]",
                )
            elif selector.element_type.is_pred and ", branch_computations=" in tail:
                refuse(
                    'unexpected attribute "branch_computations"',
                    "a pred selector goes with true_computation= and false_computation=",
                )
        elif spec.name == "custom-call":
            constraints = attributes.get("operand_layout_constraints")
            if constraints is not None and constraints.startswith("{"):
                parts = read_shape(f"({constraints[1:-1]})", 0)[0].tuple_shapes
                count = len(parts)
                if count != len(operands):
                    refuse(
                        f"Expected {len(operands)} operand layout constraints, {count} given",
                        "give one shape for each operand",
                    )
                for wanted, operand in zip(parts, operands, strict=True):
                    if not same_dimensions(wanted, operand.shape):
                        refuse(
                            f"Operand layout constraint shape {wanted} is not compatible with operand shape {operand.shape}",
                            "a constraint repeats the shape of its operand, with the layout that is wanted",
                        )
        elif spec.name == "async-start":
            if (
                not shape.is_tuple
                or len(shape.tuple_shapes) < 2
                or not shape.tuple_shapes[0].is_tuple
            ):
                refuse(
                    "async-start expects the shape ((operands), result, context...)",
                    "write for example ((f32[4]), f32[4], s32[])",
                )
            if called[0] in self.asynchronous:
                refuse(
                    f"computation {called[0].name} is called by more than one async-start",
                    "give each async-start its own computation",
                )
            self.asynchronous.add(called[0])
            if "async_execution_thread" in attributes:
                run_on_thread(called[0], attributes["async_execution_thread"])
        else:
            start = operands[0] if operands else None
            if start is None or start.opcode.name not in ("async-start", "async-update"):
                refuse(
                    f"{spec.name} expects one asynchronous operation as its operand",
                    "pass the async-start or async-update it belongs to",
                )
            else:
                if spec.name == "async-update" and shape is not start.shape:
                    refuse(
                        f"async-update has the shape of its operand, {start.shape}",
                        "state that shape",
                    )
                thread, given = (
                    start.attributes.get("async_execution_thread"),
                    attributes.get("async_execution_thread"),
                )
                if given is not None and given != (thread or '"main"'):
                    refuse(
                        f"async_execution_thread is {given}, but {thread or 'main'} where the operation starts",
                        "use one thread for all steps",
                    )
