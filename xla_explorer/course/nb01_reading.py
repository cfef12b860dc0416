"""Notebook 01, reading HLO: shapes, layouts, tuples."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from xla_explorer.course.checking.registry import Cases, WrongAnswerError, exercise
from xla_explorer.course.checking.result import Failure
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape, parse_shape
from xla_explorer.hlo.text import parse_hlo

# question -> topic to read again
QUIZ: dict[str, str] = {
    "elements of f32[8,256,64]": "Multiply the dimensions.",
    "bytes of bf16[10,3]": "bf16 is a 16-bit float: two bytes an element.",
    "rank of f32[]": "Nothing between the brackets: a scalar has no dimension.",
    "fastest dimension of f32[2,3,5]{0,2,1}": "The layout lists dimensions from minor to major: the first one is the fastest.",
    "bytes between [0,0] and [1,0] in f32[4,6]{1,0}": "Dimension 1 is the fastest; to the next row it is six elements of four bytes.",
    "bytes between [0,0] and [1,0] in f32[4,6]{0,1}": "Dimension 0 is the fastest: its adjacent elements are contiguous.",
    "arrays in ((f32[2], s32[]), pred[3])": "Tuples hold no data of their own: count the leaves.",
}


def parameter_program(shape: Shape) -> HloModule:
    """Return the smallest module with a shape: it returns its one parameter."""
    return parse_hlo(f"HloModule shape\nENTRY main {{\n  ROOT p = {shape} parameter(0)\n}}")


@exercise(
    "nb01.quiz",
    "Fill in the answers.",
    "Replace each None in the dictionary by a number.",
    hints=(
        (
            "bf16 has 2 bytes, f32 has 4, pred has 1; the number of elements is the product of "
            "the dimensions."
        ),
        "In {1,0} the first number is the dimension whose elements are contiguous in memory.",
    ),
)
def quiz(answers: dict[str, Any]) -> Cases:
    """Check numbers, question by question, without revealing the right one."""

    def right(question: str) -> int:
        what, _, rest = question.partition(" of " if " of " in question else " in ")
        shape = parse_shape(rest.rpartition(" in ")[2])
        order = shape.layout.minor_to_major if shape.is_array else ()
        known = {
            "elements": lambda: shape.element_count,
            "bytes": lambda: shape.byte_size,
            "rank": lambda: shape.rank,
            "fastest dimension": lambda: order[0],
            "arrays": lambda: len(list(shape.leaves())),
        }
        if what in known:
            return int(known[what]())
        return shape.element_type.dtype.itemsize * math.prod(
            [shape.dimensions[d] for d in order[: order.index(0)]]
        )

    if all(answers.get(q) is None for q in QUIZ):
        raise NotImplementedError(f"{len(QUIZ)} open")
    for question, hint in QUIZ.items():
        got = answers.get(question)
        if got is None:
            gone = question not in answers
            raise WrongAnswerError(
                Failure(
                    "no-number",
                    f"This question has no answer{'' if gone else ' yet'}: {question}",
                    "a number",
                    "the question is gone from the dictionary" if gone else "None",
                    hint="Keep the questions as they are, and put a number after each colon.",
                )
            )
        if isinstance(got, bool) or not isinstance(got, int | float | np.number):
            message = f"The answer is a number, not text: {question}"
            raise WrongAnswerError(
                Failure("no-number", message, "a number", repr(got), hint="Write 0, not '0'.")
            )
        if got != right(question):
            raise WrongAnswerError(
                Failure(
                    "wrong-number",
                    f"Another number: {question}",
                    "another number",
                    repr(got),
                    hint=hint,
                )
            )
        yield None


def _array_shapes() -> list[Shape]:
    fixed = [
        "f32[]",
        "f32[1]",
        "f32[3]",
        "f32[2,3]{1,0}",
        "f32[2,3]{0,1}",
        "f32[1,3]{0,1}",
        "f64[2,3]{0,1}",
        "pred[4,2,3]{1,2,0}",
        "f32[0,3]{0,1}",
    ]
    shapes = [parse_shape(text) for text in fixed]
    choice = random.Random(1)
    for rank in (2, 3, 4):
        for order in itertools.islice(itertools.permutations(range(rank)), 8):
            dimensions = ",".join([str(choice.randint(1, 5)) for _ in range(rank)])
            kind = choice.choice(("f32", "bf16", "s64", "u8"))
            shapes.append(parse_shape(f"{kind}[{dimensions}]{{{','.join(map(str, order))}}}"))
    return shapes


@exercise(
    "nb01.strides",
    "Write strides(dimensions, minor_to_major, element_bytes).",
    "Start with a vector: the answer is (element_bytes,).",
    hints=(
        "The fastest dimension, the first of minor_to_major, has the stride element_bytes.",
        (
            "Walk along minor_to_major with a step that grows by the size of each dimension, and "
            "write it to that dimension's place."
        ),
    ),
)
def strides(function: Callable[..., Any]) -> Cases:
    """Check a tuple of byte strides, a number for each dimension."""
    for shape in sorted(_array_shapes(), key=lambda s: (s.rank, s.element_count or 1000)):
        order = shape.layout.minor_to_major
        size = shape.element_type.dtype.itemsize
        got = function(shape.dimensions, order, size)
        steps = [0] * shape.rank
        step = size
        for dimension in order:
            steps[dimension] = step
            step *= shape.dimensions[dimension]
        integers = isinstance(got, tuple) and all(isinstance(s, int | np.integer) for s in got)
        if not integers or got != tuple(steps):
            message = (
                f"The strides of {shape} are different."
                if integers
                else "The answer is a tuple of integers."
            )
            raise WrongAnswerError(
                Failure(
                    "wrong-strides",
                    message,
                    str(tuple(steps)),
                    repr(got),
                    parameter_program(shape),
                    hint="Walk the layout from minor to major: the stride of a dimension is the "
                    "product of the sizes that came before it.",
                )
            )
        yield None


@exercise(
    "nb01.leaves",
    "Write leaves(shape): the arrays in a shape, with the path to each.",
    "For an array the answer is [((), shape)].",
    hints=(
        "For a tuple: for each part k, the leaves of the part, with k put in front of each path.",
        "A function that calls itself takes the path so far as a second parameter.",
    ),
)
def leaves(function: Callable[[Shape], Any]) -> Cases:
    """Check a list of (path, array shape), depth first."""
    texts = [
        "f32[2]",
        "(f32[2])",
        "(f32[2], s32[])",
        "((f32[2]))",
        "((f32[2], s32[]), pred[3])",
        "(s32[], (f32[2], (u8[4], f64[1])), pred[])",
        "((), f32[1])",
        "()",
    ]
    for shape in map(parse_shape, texts):
        got = function(shape)
        expected = list(shape.leaves())
        if list(got) != expected:
            raise WrongAnswerError(
                Failure(
                    "wrong-leaves",
                    "The leaves of this shape are different.",
                    str(expected),
                    repr(got),
                    parameter_program(shape),
                    hint="Recurse into shape.tuple_shapes where shape.is_tuple, and put the "
                    "element's number "
                    "before the returned paths.",
                )
            )
        yield None
