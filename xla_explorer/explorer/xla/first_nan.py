"""`xe.xla.first_nan`: the first operation of a program that makes a NaN or an infinity, and why."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, Final, NamedTuple

import numpy as np

from xla_explorer.explorer.display.blocks import Blocks, Sentence, Table
from xla_explorer.explorer.display.report import Report
from xla_explorer.explorer.xla.flag_sweeps import given
from xla_explorer.explorer.xla.places import PlacedModule, short_place
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.floating_point import default_floating_point
from xla_explorer.hlo.evaluator import Evaluator, flatten_value
from xla_explorer.hlo.evaluator.arguments import evaluate_here
from xla_explorer.hlo.evaluator.conversion import widen
from xla_explorer.hlo.evaluator.plan import Plan, Step
from xla_explorer.hlo.evaluator.registry import Value
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

Array = np.ndarray[Any, Any]

_KINDS: Final = ("infinity", "NaN")


class Origin(NamedTuple):
    """The first operation whose operands are finite and whose result is not.

    Attributes
    ----------
    kind : {"infinity", "NaN"}
        For a NaN, operands may be infinite.
    instruction, opcode : str
        Of the program as JAX lowered it.
    line : str
        The user's source line; empty if unknown.
    library : str
        The line of a library that the user's line called; empty if there is none.
    scope : str
        The scope of names, such as `jit(step)/Dense_0`.
    loops : tuple of str
        The loops around the operation with their iterations, the outermost first.
    elements, size : int
        Elements with the value, and elements of the result.
    element : tuple of int
        The first such element.
    operands : tuple of (str, float)
        Names and values of the operands at this element, if the operation is elementwise; else the
        largest magnitude of each.
    cause : str
        A sentence: which operands lead to the value, and what helps.
    """

    kind: str
    instruction: str
    opcode: str
    line: str
    library: str
    scope: str
    loops: tuple[str, ...]
    elements: int
    size: int
    element: tuple[int, ...]
    operands: tuple[tuple[str, float], ...]
    cause: str


class FirstNan(Report):
    """The origins of the first infinity and of the first NaN of a program.

    Attributes
    ----------
    program : str
        Name of the module.
    infinity, nan : Origin or None
        None if the program makes none.
    arguments : tuple of str
        Parameters that are not finite on entry; then the caller made the value.
    results : int
        Number of result arrays with a NaN or an infinity.
    """

    __slots__ = ("arguments", "infinity", "nan", "program", "results")

    def __init__(self, program: str) -> None:
        self.program = program
        self.infinity: Origin | None = None
        self.nan: Origin | None = None
        self.arguments: tuple[str, ...] = ()
        self.results = 0

    @property
    def first(self) -> Origin | None:
        """The origin that comes first in the execution."""
        return self.infinity or self.nan

    def headline(self) -> str:
        """Return the first origin with its line and cause."""
        if self.arguments:
            return f"{self.program}: the argument {self.arguments[0]} is not finite on entry"
        one = self.first
        if one is None:
            return f"{self.program}: every value is finite"
        place = one.line or f"%{one.instruction}"
        return f"{self.program}: the first {one.kind} is made at {place}: {one.cause}"

    def blocks(self) -> Blocks:
        """Yield a table with a row for each kind, or the headline."""
        yield self.records() if self.first is not None else Sentence(self.headline())

    def records(self) -> Table:
        """Return a row for each kind of value that the program makes."""
        found = [one for one in (self.infinity, self.nan) if one is not None]
        rows = [
            (
                one.kind,
                f"%{one.instruction}",
                one.opcode,
                one.line or None,
                " ".join(one.loops) or None,
                f"{one.elements} of {one.size}",
                ", ".join([f"{name}={value:g}" for name, value in one.operands]),
                one.cause,
            )
            for one in found
        ]
        head = ["kind", "instruction", "opcode", "line", "loops", "elements", "operands", "cause"]
        return Table(head, rows)


@default_floating_point()
def first_nan(program: Any, *arrays: Any, seconds: float = 60.0, **keywords: Any) -> FirstNan:
    """Find the operation that makes the first NaN or infinity of a program.

    The evaluator runs the program as JAX lowers it, operation by operation, with XLA:CPU's choices.
    It stops at the first NaN. Bodies of loops are searched too, each iteration by itself.

    Parameters
    ----------
    program
        A JAX function (its arguments follow), or what `xe.compile` takes.
    *arrays
        The arguments that lead to the value.
    seconds
        Time for the search.
    **keywords
        Keyword arguments of the JAX function.

    Returns
    -------
    FirstNan
        Source line, operands and cause of the first infinity and of the first NaN.

    Raises
    ------
    XlaExplorerError
        The time is over; the message has the share of the entry that was searched.

    Examples
    --------
    >>> import numpy as np
    >>> import xla_explorer as xe
    >>> text = '''ENTRY main { x = f32[2] parameter(0) l = f32[2] log(x)
    ...   ROOT d = f32[2] subtract(l, l) }'''
    >>> found = xe.xla.first_nan(text, np.array([1.0, 0.0], np.float32))
    >>> found.infinity.instruction, found.nan.instruction
    ('l', 'd')
    """
    module, leaves = given(program, arrays, keywords)
    report = FirstNan(module.name)
    report.arguments = tuple(
        [
            f"%{p.name}"
            for p, leaf in zip(module.entry.parameters(), leaves, strict=False)
            if not _is_finite(np.asarray(leaf))
        ]
    )
    search = Search(module, time.monotonic() + seconds)
    try:
        results = evaluate_here(module, leaves, evaluator=search)
        report.results = sum([not _is_finite(leaf) for leaf in _arrays_of(results)])
    except _FoundError:
        report.results = 1
    places = PlacedModule(module)
    origins = [
        _origin(kind, search.found[kind], places) if kind in search.found else None
        for kind in _KINDS
    ]
    report.infinity, report.nan = origins
    return report


class _FoundError(Exception):
    """A NaN was found: the evaluation ends."""


class _Finding(NamedTuple):
    instruction: HloInstruction
    operands: tuple[Value, ...]
    value: Array
    loops: tuple[str, ...]


class Search(Evaluator):
    """An evaluator that looks at every array that a step computes."""

    def __init__(self, module: HloModule, deadline: float) -> None:
        super().__init__(as_xla_cpu=True)
        self.deadline = deadline
        self.found: dict[str, _Finding] = {}
        self._loops: list[tuple[str, int]] = []
        self._watched: dict[Plan, Plan] = {}
        self._bodies = {
            i.called[-1]: i.name for i in module.instructions() if i.opcode.name == "while"
        }

    def run_plan(self, plan: Plan, arguments: Sequence[Value]) -> Value:
        """Run a plan as the evaluator does, and look at each result."""
        body = self._bodies.get(plan.instructions[0].parent)
        if body is not None:
            iteration = self._loops.pop()[1] + 1 if self._is_inner(body) else 1
            self._loops.append((body, iteration))
        watched = self._watched.get(plan)
        if watched is None:
            watched = self._watched[plan] = copy(plan)
            watched.steps = [self._watch(step, k, plan) for k, step in enumerate(plan.steps)]
        return super().run_plan(watched, arguments)

    def _watch(self, step: Step, number: int, plan: Plan) -> Step:
        """Return a step that looks at its result."""

        def function(i: HloInstruction, operands: Sequence[Value], evaluator: Evaluator) -> Value:
            if time.monotonic() > self.deadline:
                raise XlaExplorerError(
                    f"the time is over after {number} of {len(plan.steps)} operations of "
                    f"%{i.parent.name}; every value so far was finite",
                    "give seconds=, or smaller arguments that lead to the same value",
                )
            depth = len(self._loops)
            value = step.function(i, operands, evaluator)
            del self._loops[depth:]  # of a loop that this step ran
            if step.dtype is not None:
                value = np.asarray(value)
            if isinstance(value, np.ndarray):
                self._look(i, tuple(operands), value)
            return value

        return step._replace(function=function)

    def _is_inner(self, body: str) -> bool:
        return bool(self._loops) and self._loops[-1][0] == body

    def _look(self, i: HloInstruction, operands: tuple[Value, ...], value: Array) -> None:
        """Record the first infinity; end the evaluation at the first NaN."""
        if i.opcode.name == "constant" or _is_finite(value):
            return
        arrays = [one for one in _arrays_of(operands) if one.dtype.kind != "b"]
        loops = tuple([f"%{name} iteration {number}" for name, number in self._loops])
        if "infinity" not in self.found and all(map(_is_finite, arrays)) and _has_infinity(value):
            self.found["infinity"] = _Finding(i, operands, value, loops)
        if _has_nan(value) and not any(map(_has_nan, arrays)):
            self.found["NaN"] = _Finding(i, operands, value, loops)
            raise _FoundError


def _arrays_of(value: Value) -> list[Array]:
    return [leaf for leaf in flatten_value(value) if isinstance(leaf, np.ndarray)]


def _numbers(value: Array) -> Array | None:
    """Return an array of floats in a type that numpy computes with; None for other types."""
    wide = widen(value)
    return wide if wide.dtype.kind in "fc" else None


def _is_finite(value: Array) -> bool:
    wide = _numbers(value)
    return wide is None or bool(np.isfinite(wide).all())


def _has_nan(value: Array) -> bool:
    wide = _numbers(value)
    return wide is not None and bool(np.isnan(wide).any())


def _has_infinity(value: Array) -> bool:
    wide = _numbers(value)
    return wide is not None and bool(np.isinf(wide).any())


def _origin(kind: str, finding: _Finding, places: PlacedModule) -> Origin:
    i, value = finding.instruction, _numbers(finding.value)
    assert value is not None
    bad = np.isnan(value) if kind == "NaN" else np.isinf(value)
    index = tuple(map(int, np.argwhere(bad)[0])) if value.ndim else ()
    operands = operands_at(i, finding.operands, index)
    _, place = places.find(i.name)
    return Origin(
        kind,
        i.name,
        i.opcode.name,
        short_place(place.line),
        short_place(place.library),
        place.scope,
        finding.loops,
        int(bad.sum()),
        int(value.size),
        index,
        operands,
        cause_at(kind, i, operands),
    )


def operands_at(
    i: HloInstruction, operands: Sequence[Value], index: tuple[int, ...]
) -> tuple[tuple[str, float], ...]:
    """Return the operands' values at an element, or their largest magnitudes."""
    found = []
    for operand, value in zip(i.operands, operands, strict=False):
        if not isinstance(value, np.ndarray):
            continue
        wide = np.asarray(widen(value))
        if wide.dtype.kind == "c":
            wide = np.abs(wide)
        if wide.shape == i.shape.dimensions:
            found.append((operand.name, float(wide[index])))
        elif wide.size:
            with np.errstate(all="ignore"):
                found.append((operand.name, float(np.abs(wide.astype(np.float64)).max())))
    return tuple(found)


_HELP: Final[Mapping[str, str]] = {
    "log": "clamp the argument, jnp.log(jnp.maximum(x, tiny)), or use jax.nn.log_softmax",
    "sqrt": "clamp the argument at 0; a gradient of sqrt at 0 is infinite",
    "exponential": "subtract the maximum first, as jax.nn.softmax and logsumexp do",
    "divide": "add a small number to the denominator, or select with jnp.where on the operands",
    "multiply": "use a wider type, scale the values, or select with jnp.where on the operands",
    "power": "keep the base positive, or compute in log space",
    "convert": "keep the wider type, or scale the values",
    "dot": "scale the operands, or accumulate in f32 (preferred_element_type)",
    "reduce": "accumulate in f32 (dtype=jnp.float32)",
    "rsqrt": "add a small number to the argument",
}


def cause_at(kind: str, i: HloInstruction, operands: Sequence[tuple[str, float]]) -> str:
    """Return a sentence about the operands at an element, and what helps."""
    values = [value for _, value in operands]
    name, (a, b) = i.opcode.name, [*values, np.nan, np.nan][:2]
    if name == "divide":
        text = f"{a:g} / {b:g}"
    elif name in ("subtract", "add", "multiply", "power", "remainder"):
        sign = {"subtract": "-", "add": "+", "multiply": "*", "power": "to the power", "remainder": "mod"}[name]  # fmt: skip
        text = f"{a:g} {sign} {b:g}"
    elif name in ("log", "log-plus-one", "sqrt", "rsqrt", "exponential", "acos", "asin", "atanh", "tan"):  # fmt: skip
        text = f"{name} of {a:g}"
    elif name == "convert":
        text = f"{a:g} in {i.shape.element_type.name}"
    elif name in ("dot", "convolution", "reduce", "reduce-window", "scatter"):
        text = f"a sum in {i.shape.element_type.name} of operands up to {max(values):g}"
    else:
        text = f"{name} of finite operands"
    helps = _HELP.get(name)
    return f"{text} is {kind}" + (f"; {helps}" if helps else "")
