"""Parts of a program whose inputs are known values: one operation, or many results at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from xla_explorer.compiler.pipeline import PassContext, make_pass
from xla_explorer.compiler.pipeline.optimize import optimize
from xla_explorer.hlo.evaluator import Evaluator
from xla_explorer.hlo.evaluator.arguments import evaluate_here
from xla_explorer.hlo.evaluator.plan import Plan, Step
from xla_explorer.hlo.evaluator.registry import Value
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

Array = np.ndarray[Any, Any]
_MADE_HERE: Final = frozenset({"constant", "iota"})


class Part(NamedTuple):
    """A program with its arguments."""

    module: HloModule
    arrays: list[Array]


def flattened(module: HloModule) -> HloModule:
    """Return the program with its calls inlined."""
    return optimize(module, "call-inliner", "off").module.clone()


def with_results(module: HloModule) -> tuple[HloModule, list[str]]:
    """Return the program whose results are all its arrays of floats, and their names."""
    made = module.clone()
    _forget_layout(made)
    entry = made.entry
    wanted = [
        i
        for i in entry.post_order()
        if i.shape.is_array
        and i.shape.element_type.dtype.kind not in "biu"
        and i.opcode.name not in ("parameter", "constant", "iota", "broadcast")
    ]
    entry.set_root(entry.add("tuple", None, wanted))
    make_pass("dce").run(made, PassContext())
    return made, [i.name for i in wanted]


def alone(module: HloModule, name: str, values: dict[str, Array]) -> Part | None:
    """Return one operation with its operands as arguments; None if an operand is no array."""
    made = module.clone()
    _forget_layout(made)
    entry = made.entry
    i = next(one for one in entry.instructions.values() if one.name == name)
    if not i.operands or any(not o.shape.is_array for o in i.operands):
        return None
    known: dict[str, Array] = {}
    count = len(entry.parameters())
    operands: list[HloInstruction] = []
    for operand in i.operands:
        if operand.opcode.name in _MADE_HERE or operand.name not in values:
            operands.append(operand)
            continue
        given = next((p for p in operands if known.get(p.name) is values[operand.name]), None)
        if given is None:
            given = entry.add_parameter(count, operand.shape, f"value.{operand.name}")
            known[given.name] = values[operand.name]
            count += 1
        operands.append(given)
    entry.set_operands(i, operands)
    entry.set_root(i)
    make_pass("dce").run(made, PassContext())
    for parameter in list(entry.parameters()):
        if not parameter.users and parameter is not entry.root:
            entry.remove(parameter)
    for number, parameter in enumerate(entry.parameters()):
        entry.set_payload(parameter, number)
    reachable = made.post_order_computations()
    made.computations = {c.name: c for c in made.computations.values() if c in reachable}
    arrays = [known.get(p.name, values.get(p.name)) for p in entry.parameters()]
    if any(one is None for one in arrays):
        return None
    return Part(made, [one for one in arrays if one is not None])


def _forget_layout(module: HloModule) -> None:
    module.attributes.pop("entry_computation_layout", None)
    module.attributes.pop("input_output_alias", None)
    module.out_tree = None


class _Recorder(Evaluator):
    """An evaluator that keeps every array of the entry."""

    def __init__(self, module: HloModule) -> None:
        super().__init__(as_xla_cpu=True)
        self.entry = module.entry
        self.by_name: dict[str, Array] = {}

    def run_plan(self, plan: Plan, arguments: Sequence[Value]) -> Value:
        """Run a plan as the evaluator does, and keep the entry's values."""
        if plan.instructions[0].parent is self.entry:
            plan.steps = [self._kept(step) for step in plan.steps]
        return super().run_plan(plan, arguments)

    def _kept(self, step: Step) -> Step:
        def function(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
            value = step.function(i, operands, evaluator)
            if step.dtype is not None:
                value = np.asarray(value)
            if isinstance(value, np.ndarray):
                self.by_name[i.name] = value
            return value

        return step._replace(function=function)


def all_values(module: HloModule, arrays: Sequence[Array]) -> dict[str, Array]:
    """Return the evaluator's value of each array of the entry, by name."""
    recorder = _Recorder(module)
    evaluate_here(module, list(arrays), evaluator=recorder)
    for parameter, array in zip(module.entry.parameters(), arrays, strict=True):
        recorder.by_name[parameter.name] = np.asarray(array)
    return recorder.by_name
