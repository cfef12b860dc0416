"""The `Evaluator`: runs computations by calling the registered function of each instruction.

It is the reference for all backends. Integers are exact. Transcendental functions of f32 and
narrower types are computed in f64 and rounded once. Float sums and products are accumulated in f64.
All-reduce and windows of types narrower than f32 round at every step, as in XLA.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_explorer.foundation.limits import check_deadline
from xla_explorer.foundation.plain_data import PlainDataError
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.evaluator.devices.host import Host
from xla_explorer.hlo.evaluator.devices.world import Device, World
from xla_explorer.hlo.evaluator.plan import Plan, check_size, evaluation_function, literal_value
from xla_explorer.hlo.evaluator.registry import Array, EvaluationError, Value
from xla_explorer.hlo.evaluator.vectorise import (
    VectorPlan,
    empty_value,
    evaluate_scalar_step,
    run_vectorised,
    store_element,
)
from xla_explorer.hlo.instruction import HloInstruction

DEFAULT_MAX_ELEMENTS = 1 << 30
# Exceptions of numpy for operands that do not fit; an error that names the instruction replaces
# them.
_UNFIT = (
    ValueError,
    TypeError,
    AttributeError,
    ArithmeticError,
    LookupError,
    np.linalg.LinAlgError,
)


def _could_not(instruction: HloInstruction, problem: BaseException) -> EvaluationError:
    return EvaluationError(
        f"%{instruction.name} ({instruction.opcode.name}, "
        f"{instruction.shape.text_without_layout}) could not be evaluated: {problem}"
    )


class Evaluator:
    """Evaluator of computations and single instructions, with a cached plan per computation.

    max_elements: EvaluationError before an array with more elements is allocated.
    record: store every intermediate value in `values` by instruction id (for a loop body: its last
    execution).
    seed: of the opcodes `rng` and `rng-get-and-update-state`.
    max_iterations: EvaluationError after this number of iterations of one `while`; None: no limit.
    as_xla_cpu: make XLA:CPU's choices if HLO leaves one (see `evaluate`); by default every
    operation rounds to its type, and ties keep their order.
    device: one of several virtual devices (see `evaluate_replicated`); by default the only one.
    host: the other side of infeed, outfeed and host transfers.
    """

    def __init__(
        self,
        *,
        max_elements: int = DEFAULT_MAX_ELEMENTS,
        record: bool = False,
        seed: int = 0,
        max_iterations: int | None = None,
        as_xla_cpu: bool = False,
        device: Device | None = None,
        host: Host | None = None,
    ) -> None:
        self.max_elements = max_elements
        self.record = record
        self.max_iterations = max_iterations
        self.as_xla_cpu = as_xla_cpu
        self.values: dict[int, Value] = {}
        self.rng_state = (seed << 1) | 1
        self.device = device if device is not None else World().devices[0]
        self.host = host if host is not None else Host()
        self._plans: dict[HloComputation, Plan] = {}
        self._vector_plans: dict[HloComputation, tuple[object, VectorPlan | None]] = {}
        self._depth = 0

    def state(self) -> tuple[Any, ...]:
        """Return settings, host, recorded values and random state, for another process."""
        if len(self.device.world.devices) > 1:
            raise PlainDataError(
                "an evaluator of one of several devices cannot be sent to another process"
            )
        settings = self.max_elements, self.record, self.max_iterations, self.as_xla_cpu
        return settings, self.host, self.values, self.rng_state

    @classmethod
    def of_state(
        cls, settings: tuple[Any, ...], host: Host, values: dict[int, Value], rng_state: int
    ) -> Evaluator:
        """Return an evaluator with the given state (see `state`)."""
        most, record, iterations, as_xla_cpu = settings
        made = cls(
            max_elements=most,
            record=record,
            max_iterations=iterations,
            as_xla_cpu=as_xla_cpu,
            host=host,
        )
        made.values, made.rng_state = values, rng_state
        return made

    def take_over(self, other: Evaluator) -> None:
        """Copy recorded values, random state and host state from another evaluator."""
        self.values.update(other.values)
        self.rng_state = other.rng_state
        self.host.take_over(other.host)

    def evaluate_computation(
        self, computation: HloComputation, arguments: Sequence[Value]
    ) -> Value:
        """Return the root's value for arguments by parameter number, which are not checked."""
        if self._depth:
            return self._run(computation, arguments)
        self._depth = 1
        try:
            with np.errstate(all="ignore"):
                return self._run(computation, arguments)
        except RecursionError:
            raise EvaluationError(
                f"the computations that %{computation.name} calls call each other too deeply to "
                "be evaluated",
                "the pass call-inliner takes calls away; loops in loops have no other form",
            ) from None
        finally:
            self._depth = 0

    def _run(self, computation: HloComputation, arguments: Sequence[Value]) -> Value:
        plan = self.plan(computation)
        if len(arguments) != plan.parameter_count:
            raise EvaluationError(
                f"%{computation.name} takes {plan.parameter_count} arguments, got {len(arguments)}"
            )
        return self.run_plan(plan, arguments)

    def plan(self, computation: HloComputation) -> Plan:
        """Return the plan of a computation; a mutation of the computation invalidates it."""
        plan = self._plans.get(computation)
        if plan is None or plan.order is not computation.post_order():
            plan = self._plans[computation] = Plan(
                computation, self.max_elements, excess_precision=self.as_xla_cpu
            )
        return plan

    def run_plan(self, plan: Plan, arguments: Sequence[Value]) -> Value:
        """Run a plan inside a running evaluation, once a loop iteration.

        The arguments are not checked.
        """
        frame = plan.frame.copy()
        for slot, number in plan.parameters:
            frame[slot] = arguments[number]
        record = self.record
        for function, instruction, operands, result, dead, dtype, dimensions in plan.steps:
            check_deadline("the evaluation")
            try:
                value = function(instruction, [frame[o] for o in operands], self)
            except _UNFIT as problem:
                raise _could_not(instruction, problem) from problem
            if dtype is not None:
                if value.__class__ is not np.ndarray:
                    value = np.asarray(value)
                if value.dtype != dtype or value.shape != dimensions:
                    value = self._reconcile(instruction, value)
            frame[result] = value
            if not record:
                for slot in dead:
                    frame[slot] = None
        if record:
            for slot, instruction in enumerate(plan.instructions):
                self.values[instruction.id] = frame[slot]
        return frame[plan.root]

    @staticmethod
    def _reconcile(instruction: HloInstruction, value: Array) -> Array:
        """Return a value made smaller than its bound by a dynamic operand.

        Any other difference from the stated shape is an EvaluationError.
        """
        shape = instruction.shape
        dynamic = any(any(o.shape.dynamic) for o in instruction.operands)
        if dynamic and value.dtype == shape.element_type.dtype and value.ndim == shape.rank:
            return value
        raise EvaluationError(
            f"%{instruction.name} ({instruction.opcode.name}) states the shape "
            f"{shape.text_without_layout}, "
            f"but its operands give {value.dtype}{list(value.shape)}",
            "verify the module: the stated shape does not follow from the operands",
        )

    def evaluate_instruction(self, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
        """Return the value of one instruction for given operand values; a parameter is an error."""
        name = instruction.opcode.name
        if name == "constant":
            return literal_value(instruction.literal)
        if name == "parameter":
            raise EvaluationError(f"%{instruction.name} is a parameter, its value is an argument")
        check_size(instruction, self.max_elements)
        function = evaluation_function(instruction)
        try:
            with np.errstate(all="ignore"):
                value = function(instruction, operands, self)
        except _UNFIT as problem:
            raise _could_not(instruction, problem) from problem
        return np.asarray(value) if instruction.shape.is_array else value

    def evaluate_elementwise(
        self, computation: HloComputation, arguments: Sequence[Array]
    ) -> Value:
        """Apply a scalar computation to each element of arrays of one shape (0-d arrays broadcast).

        The computation is vectorised if every instruction permits it, else run element by element.
        The leaves of the result have the common shape.
        """
        shape = np.broadcast_shapes(*[a.shape for a in arguments]) if arguments else ()
        if not shape:
            return self.evaluate_computation(computation, arguments)
        order = computation.post_order()
        known = self._vector_plans.get(computation)
        if known is None or known[0] is not order:
            known = self._vector_plans[computation] = (order, VectorPlan.of(computation))
        vector_plan = known[1]
        if vector_plan is not None:
            return run_vectorised(vector_plan, arguments, shape, self)
        return self._element_by_element(computation, arguments, shape)

    def evaluate_subgraph(
        self, instruction: HloInstruction, computation: HloComputation, arguments: Sequence[Array]
    ) -> Array:
        """Return the value of one instruction of a scalar computation for every element.

        The arguments are arrays of one shape.
        """
        values: dict[HloInstruction, Value] = {}
        needed = {instruction}
        order = computation.post_order()
        for i in reversed(order):
            if i in needed:
                needed.update(i.operands)
        with np.errstate(all="ignore"):
            for i in order:
                if i in needed:
                    values[i] = (
                        arguments[int(i.payload)]
                        if i.opcode.name == "parameter"
                        else evaluate_scalar_step(i, [values[o] for o in i.operands], self)
                    )
        return np.asarray(values[instruction])

    def _element_by_element(
        self, computation: HloComputation, arguments: Sequence[Array], shape: tuple[int, ...]
    ) -> Value:
        spread = [np.broadcast_to(a, shape) for a in arguments]
        result = empty_value(computation.root.shape, shape)
        for index in np.ndindex(shape):
            store_element(
                result,
                index,
                self.evaluate_computation(computation, [np.asarray(a[index]) for a in spread]),
            )
        return result
