"""Patterns: what they match, and that generated matchers and the plain interpreter agree."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.drawn import DRAWN
from xla_explorer.compiler.rewriting import operators
from xla_explorer.compiler.rewriting.matcher import alternatives, compile_pattern
from xla_explorer.compiler.rewriting.operators import (
    abs_,
    add,
    compare,
    maximum,
    multiply,
    negate,
    select,
    subtract,
)
from xla_explorer.compiler.rewriting.patterns import (
    Pattern,
    any_,
    interpret,
    operator,
    scalar,
    splat,
    varying,
)
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import OPCODES
from xla_explorer.hlo.text import parse_hlo

MODULE = """HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  z = f32[] constant(0)
  zeros = f32[4] broadcast(z), dimensions={}
  ones = f32[4] constant({1, 1, 1, 1})
  mixed = f32[4] constant({1, 2, 1, 1})
  a = f32[4] add(zeros, x)
  b = f32[4] multiply(y, ones)
  c = f32[4] multiply(y, mixed)
  d = f32[4] maximum(x, y)
  e = f32[4] maximum(y, d)
  less = pred[4] compare(x, y), direction=LT
  s = f32[4] subtract(x, x)
  ROOT t = (f32[4], f32[4], f32[4], f32[4], pred[4], f32[4]) tuple(a, b, c, e, less, s)
}
"""


@pytest.fixture(scope="module")
def module() -> HloModule:
    return parse_hlo(MODULE)


def names(found: tuple[HloInstruction, ...] | None) -> tuple[str, ...] | None:
    return None if found is None else tuple([i.name for i in found])


@pytest.mark.parametrize(
    ("pattern", "root", "captured"),
    [
        (add(any_("x"), scalar(0)), "a", ("x",)),
        (multiply(any_("x"), scalar(1)), "b", ("y",)),
        (multiply(any_("x"), scalar(1)), "c", None),
        (multiply(varying("x"), splat("k")), "b", ("y", "ones")),
        (multiply(varying("x"), splat("k")), "c", None),
        (maximum(maximum(any_("p"), any_("q"), name="inner"), any_("q")), "e", ("d", "x", "y")),
        (compare(any_(), any_(), direction="LT"), "less", ()),
        (compare(any_(), any_(), direction="GT"), "less", None),
        (subtract(any_("x"), any_("x")), "s", ("x",)),
        (maximum(maximum().one_use(), any_()), "e", ()),
        (maximum(any_("x").one_use(), any_()), "e", ("d",)),
        (operator("add", "maximum")(any_("p"), any_("q")), "d", ("x", "y")),
        (add(name="whole").that(lambda i: len(i.users) == 7), "a", None),
    ],
)
def test_matches(
    module: HloModule, pattern: Pattern, root: str, captured: tuple[str, ...] | None
) -> None:
    i = module.find(root)
    match, _ = compile_pattern(pattern)
    assert names(interpret(pattern, i)) == captured
    assert names(match(i)) == captured


def test_constructors_come_from_the_opcode_rows() -> None:
    for name in OPCODES:
        made = getattr(operators, operators.python_name(name))()
        assert made.opcodes == (OPCODES[name],)
    assert abs_(any_()).opcodes[0].name == "abs"
    with pytest.raises(AttributeError):
        operators.no_such_opcode  # noqa: B018  # the access is the test


def test_wrong_arity_is_refused_where_it_is_written() -> None:
    with pytest.raises(TypeError, match="takes 3 operands"):
        select(any_(), any_())


def test_a_pattern_prints_as_people_write_it() -> None:
    assert str(add(any_("x"), scalar(0))) == "add(x, 0)"
    assert str(negate(any_("x")).one_use()) == "negate(x) (one use)"


def test_equal_orders_are_tried_once() -> None:
    assert len(alternatives(add(any_(), any_()))) == 1
    assert len(alternatives(add(add(any_("x"), scalar(1)), scalar(2)))) == 4


OPERATORS = ("add", "multiply", "subtract", "maximum", "negate", "abs")


def patterns(depth: int) -> st.SearchStrategy[Pattern]:
    leaves = st.one_of(
        st.sampled_from("xyz").map(any_),
        st.just(any_()),
        st.sampled_from([0, 1]).map(scalar),
        st.just(splat("k")),
    )
    if depth == 0:
        return leaves

    def node(name: str) -> st.SearchStrategy[Pattern]:
        arity = OPCODES[name].arity or 1
        parts = st.lists(patterns(depth - 1), min_size=arity, max_size=arity)
        return st.builds(
            lambda p, single, n: _made(name, p, single, n),
            parts,
            st.booleans(),
            st.sampled_from([None, "n"]),
        )

    return st.one_of(leaves, st.sampled_from(OPERATORS).flatmap(node))


def _made(name: str, parts: list[Pattern], single: bool, capture: str | None) -> Pattern:
    made = operator(name)(*parts, name=capture)
    return made.one_use() if single else made


@st.composite
def graphs(draw: st.DrawFn) -> HloModule:
    lines = [
        "x = f32[2] parameter(0)",
        "y = f32[2] parameter(1)",
        "zero = f32[] constant(0)",
        "one = f32[2] constant({1, 1})",
    ]
    lines.append("zeros = f32[2] broadcast(zero), dimensions={}")
    known = ["x", "y", "one", "zeros"]
    for number in range(draw(st.integers(3, 10))):
        name = draw(st.sampled_from(OPERATORS))
        operands = draw(
            st.lists(
                st.sampled_from(known),
                min_size=OPCODES[name].arity or 1,
                max_size=OPCODES[name].arity or 1,
            )
        )
        lines.append(f"v{number} = f32[2] {name}({', '.join(operands)})")
        known.append(f"v{number}")
    lines[-1] = "ROOT " + lines[-1]
    return parse_hlo("ENTRY e {\n" + "\n".join(lines) + "\n}\n")


@settings(DRAWN, max_examples=60)
@given(graphs(), st.lists(patterns(3), min_size=1, max_size=6))
def test_generated_matchers_mean_what_the_interpreter_means(
    module: HloModule, tried: list[Pattern]
) -> None:
    for pattern in tried:
        if not pattern.opcodes:
            continue
        match, source = compile_pattern(pattern)
        for i in module.instructions():
            if i.opcode in pattern.opcodes:
                assert match(i) == interpret(pattern, i), f"{pattern} at {i}\n{source}"
