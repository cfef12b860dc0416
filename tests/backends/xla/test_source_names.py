"""Names in XLA's texts: those of the source, and one name for each instruction XLA made."""

from __future__ import annotations

import pytest

from xla_explorer.backends.xla.source_names import SourceNames
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo

SOURCE = """HloModule m
ENTRY e { x = f32[4] parameter(0)  multiply.6 = f32[4] multiply(x, x)  add.1 = f32[4] add(multiply.6, x)  ROOT r = f32[4] negate(add.1) }"""


def text(*lines: str) -> HloModule:
    """One of XLA's texts, whose instructions bear the marks of the source's."""
    return parse_hlo(
        'HloModule m\nENTRY e {\n  p = f32[4] parameter(0), metadata={op_name="xla_explorer/x"}\n'
        + "\n".join(lines)
        + "\n}"
    )


def line(name: str, operation: str, mark: str) -> str:
    return f'  {name} = f32[4] {operation}, metadata={{op_name="xla_explorer/{mark}"}}'


FIRST = text(
    line("m.1", "multiply(p, p)", "multiply.6"),
    line("a.1", "add(m.1, p)", "add.1"),
    line("ROOT r.1", "negate(a.1)", "r"),
)
BOTH = text(line("m.1", "multiply(p, p)", "multiply.6"), line("m.2", "multiply(p, m.1)", "multiply.6"), line("m.3", "multiply(m.1, m.2)", "multiply.6"),
            line("ROOT r.1", "negate(m.3)", "r"))  # fmt: skip
ONE = text(line("m.3", "multiply(p, p)", "multiply.6"), line("ROOT r.1", "negate(m.3)", "r"))


def names(module: HloModule) -> list[str]:
    return [i.name for i in module.entry.instructions.values()]


def test_what_xla_copied_keeps_its_name_when_the_original_is_gone() -> None:
    given = SourceNames(parse_hlo(SOURCE))
    found = []
    for module in (FIRST.clone(), BOTH.clone(), ONE.clone()):
        given.restore(module)
        found.append(names(module))
    assert found[0] == ["x", "multiply.6", "add.1", "r"]
    assert found[1] == ["x", "multiply.6", "multiply.6.clone", "multiply.6.clone.2", "r"]
    assert found[2] == ["x", "multiply.6.clone.2", "r"], (
        "m.3 was multiply.6.clone.2 in the text before"
    )


@pytest.mark.parametrize("other", ["", "  multiply.6 = f32[4] abs(p)"])
def test_a_name_of_xlas_own_does_not_take_one_of_the_source(other: str) -> None:
    """XLA's own instruction gets another name if the source uses its name elsewhere."""
    given = SourceNames(parse_hlo(SOURCE.replace("multiply.6 = f32[4] multiply(x, x)  add.1 = f32[4] add(multiply.6, x)", "add.1 = f32[4] add(x, x)"
                                  ).replace("ENTRY", "f { y = f32[4] parameter(0)  ROOT multiply.6 = f32[4] multiply(y, y) }\nENTRY")))  # fmt: skip
    given.restore(text(line("a.1", "add(p, p)", "add.1"), line("ROOT r.1", "negate(a.1)", "r")))
    inlined = text(
        *[
            one
            for one in (other, line("m.9", "multiply(p, p)", "f/xla_explorer/multiply.6"))
            if one
        ],
        line("ROOT r.1", "negate(m.9)", "r"),
    )
    given.restore(inlined)
    assert inlined.entry.root.operands[0].name == "multiply.6"
