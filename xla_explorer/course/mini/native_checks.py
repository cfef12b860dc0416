"""The last two parts of the thread: LLVM IR from kernels, and the whole compiler."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from xla_explorer.course.checking.reduction import cases_of
from xla_explorer.course.checking.registry import Cases, answering, exercise
from xla_explorer.course.checking.result import CRASHED, Failure, value_text
from xla_explorer.course.mini.checks import VIEWS, modules
from xla_explorer.course.mini.graph import Array, Graph, Node, evaluate, room_of
from xla_explorer.course.mini.programs import arrays_of, graph_of
from xla_explorer.course.mini.running import Program
from xla_explorer.course.native_run import (
    KernelCrashedError,
    NativeChild,
    NotWrittenError,
    OutsideError,
)
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import module_text, parse_hlo

# Products of more rows and columns than a tile has.
_PRODUCT = """HloModule product
ENTRY main { x = f32[12,20] parameter(0)  y = f32[20,80] parameter(1)
  ROOT r = f32[12,80] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} }"""
# A view of a view whose dimensions differ from those of its operand.
_VIEWED = """HloModule viewed
ENTRY main { x = f32[3] parameter(0)  w = f32[2,3] broadcast(x), dimensions={1}  t = f32[3,2] transpose(w), dimensions={1,0}
  ROOT r = f32[3,2] negate(t) }"""
# A transpose that is not its own inverse.
_TURNED = """HloModule turned
ENTRY main { x = f32[3,3,3] parameter(0)  t = f32[3,3,3] transpose(x), dimensions={1,2,0}
  ROOT r = f32[3,3,3] negate(t) }"""
# On NaN and infinities these have one value: `fast` and `llvm.maxnum` compute another.
_SPECIAL = ("maximum(x, y)", "subtract(x, x)", "multiply(x, y)", "add(y, x)")
_SPECIAL_VALUES = (
    np.array([np.nan, 1, np.nan, np.inf, -np.inf, 2, np.inf, 0], np.float32),
    np.array([1, np.nan, np.nan, -1, np.inf, np.inf, -np.inf, np.inf], np.float32),
)
_NO_KERNEL = ("parameter", "constant")


def _stored(graph: Graph, few: bool) -> list[Node]:
    """Return the kernels to emit: one per operation, or only necessary ones."""
    nodes = graph.nodes()
    read = {o for n in nodes if n.opcode == "dot" for o in n.operands}
    if few:
        computed = [n for n in nodes if n.opcode not in (*_NO_KERNEL, *VIEWS)]
        return [
            n
            for n in nodes
            if n is graph.root or n.opcode in ("dot", "reduce") or (n in read and n in computed)
        ]
    return [n for n in nodes if n is graph.root or n.opcode not in (*_NO_KERNEL, *VIEWS)]


def _side_by_side(kernels: list[Node]) -> tuple[dict[Node, int], int]:
    offsets: dict[Node, int] = {}
    end = 0
    for kernel in kernels[:-1]:
        offsets[kernel] = end
        end += room_of(kernel)
    return offsets, end


def _near(graph: Graph, arrays: list[Array], got: Array) -> tuple[bool, Array] | None:
    """Return (True if a result is accurate up to rounding, the expected result).

    None if the program itself amplifies rounding too much.
    """
    want, exact = evaluate(graph, arrays), evaluate(graph, arrays, np.float64)
    with np.errstate(all="ignore"):
        finite = np.isfinite(want) & np.isfinite(exact)
        rounding = np.where(finite, np.abs(want - exact), 0)
        scale = np.abs(np.where(finite, exact, 0))
        if (rounding > 1e-4 * scale + 1e-6).any():
            return None
        allowed = 20 * rounding + 1e-4 * scale + 1e-5 * max(float(scale.max(initial=0)), 1.0)
        return bool((~finite | (np.abs(got - exact) <= allowed)).all()), want


def _of_special_values() -> list[HloModule]:
    return [
        parse_hlo(
            f"HloModule special\nENTRY main {{ x = f32[8] parameter(0)  y = f32[8] parameter(1)  ROOT r = f32[8] {operation} }}"
        )
        for operation in _SPECIAL
    ]


def _same_specials(graph: Graph, arrays: Sequence[Array], got: Array) -> tuple[bool, Array]:
    """Return (True if NaNs and infinities are at the same places, the expected result)."""
    with np.errstate(all="ignore"):
        want = evaluate(graph, list(arrays))
    return bool(
        np.array_equal(np.isnan(want), np.isnan(got)) and (~np.isinf(want) | (want == got)).all()
    ), want


def _judged(
    graph: Graph, program: Program, module: HloModule, child: NativeChild
) -> Failure | None:
    special = module.name == "special"
    arrays = (
        [np.resize(_SPECIAL_VALUES[k % 2], p.shape) for k, p in enumerate(graph.parameters)]
        if special
        else arrays_of(graph)
    )
    shown = program.ir[:1500]
    try:
        got = program.run_in(child, *arrays)
    except OutsideError as error:
        return Failure("outside", f"{error.message}.", "", shown, module, hint=error.hint)
    except NotWrittenError as error:
        return Failure(
            "not-written",
            f"{error.message}.",
            f"{prod(graph.root.shape)} elements",
            shown,
            module,
            hint=error.hint,
        )
    except KernelCrashedError as error:
        return Failure(
            CRASHED, "The code did not return.", "code that ends", f"{error}\n\n{shown}", module
        )
    except XlaExplorerError as error:
        hint = "LLVM's message names the line."
        return Failure(
            "cannot-run",
            "This IR could not be run.",
            "a function",
            f"{error}\n\n{shown}",
            module,
            hint=hint,
        )
    answer = _same_specials(graph, arrays, got) if special else _near(graph, arrays, got)
    if answer is None or answer[0]:
        return None
    hint = (
        "A NaN or an infinity stays one: `llvm.maximum` keeps a NaN, and `fast` assumes neither "
        "occurs."
    )
    hint = hint if special else "Compute the first element by hand: which index does each load use?"
    return Failure(
        "wrong-value",
        "The code computes something else.",
        value_text(answer[1]),
        value_text(got),
        module,
        tuple(arrays),
        hint,
    )


@exercise(
    "nb09.mini",
    "Write emit(graph, kernels, offsets) in mini/emit.py: LLVM IR of `define void @run(ptr %x0, "
    "..., ptr %arena, ptr %out, i64 %n)`.",
    "First only elementwise kernels: a loop a dimension, and value(node, indices), which writes "
    "the instructions and returns the register.",
    hints=(
        (
            "value(): a stored node or a parameter is a load; a broadcast, transpose or reshape "
            "its operand elsewhere; else an operation."
        ),
        (
            "A reshape keeps the place in memory order: linear = ((i * n1) + j) * n2 + k, and "
            "back by udiv and urem."
        ),
        (
            "A reduce keeps its total in an `alloca float` at the function's beginning: LLVM "
            "makes it a register. `reassoc` lets it vectorise."
        ),
        (
            "A dot first as three nested loops; then a tile of 4 x 16 in allocas of <16 x "
            "float>, the lhs element broadcast to all lanes."
        ),
        (
            "Floats are written as LLVM reads them exactly: 0x and the 16 digits of the number "
            "as a double."
        ),
    ),
)
def emit(function: Callable[[Graph, list[Node], dict[Node, int]], Any]) -> Cases:
    """Check programs with one kernel per operation, and with as few kernels as possible.

    Values must be as close to exact ones as numpy's.
    """

    def test(module: HloModule) -> Failure | None:
        graph = graph_of(module)
        for few in (False, True):
            kernels = _stored(graph, few)
            offsets, size = _side_by_side(kernels)
            with answering(module):
                text = function(graph, list(kernels), dict(offsets))
            if not isinstance(text, str):
                return Failure(
                    "no-text", "The answer is LLVM IR text.", "a str", repr(text)[:300], module
                )
            failure = _judged(graph, Program(text, size, graph.root.shape), module, child)
            if failure is not None:
                return failure
        return None

    with NativeChild() as child:
        yield from cases_of(
            (*map(parse_hlo, (_VIEWED, _TURNED, _PRODUCT)), *_of_special_values(), *modules(4)),
            test,
        )


@exercise(
    "nb20.compile",
    "Write compile(text) in mini/compile.py: a Program from the text of a program, by all of "
    "your parts.",
    "part('parse')(text), then simplify, fuse, allocate, emit; the last result is Program(ir, "
    "arena, shape).",
    hints=(
        (
            "Each part passes the next one the result of its exercise. The shape is that of the "
            "simplified graph's root."
        ),
    ),
)
def compile(function: Callable[[str], Any]) -> Cases:
    """Check random programs and an attention, from text to values."""

    def test(module: HloModule) -> Failure | None:
        with answering(module):
            program = function(module_text(module))
        if not isinstance(program, Program):
            return Failure(
                "no-program",
                "The answer is a Program.",
                "Program(ir, arena, shape)",
                repr(program)[:300],
                module,
            )
        graph = graph_of(module)
        if program.shape != graph.root.shape:
            return Failure(
                "other-shape",
                "The result has another shape.",
                repr(graph.root.shape),
                repr(program.shape),
                module,
            )
        return _judged(graph, program, module, child)

    with NativeChild() as child:
        yield from cases_of(
            [m for m in modules(4) if m.entry.root.opcode.name not in _NO_KERNEL], test
        )
