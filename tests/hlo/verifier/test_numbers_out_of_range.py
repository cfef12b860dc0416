"""Attributes with absurd numbers, as in a damaged proto, are violations, not exceptions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.opcode_programs import PROGRAMS, module_with
from xla_explorer.hlo.opcodes import OPCODES
from xla_explorer.hlo.verifier import violations

NUMBERS = (-1, 7, 99, 1 << 40)


def changed(value: Any) -> Iterator[Any]:
    """Values with one number changed, left out, or given twice; of records, tuples and numbers."""
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, int):
        yield from [n for n in NUMBERS if n != value]
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        for name, part in zip(value._fields, value, strict=True):
            yield from [value._replace(**{name: other}) for other in changed(part)]
    elif isinstance(value, tuple):
        for k, part in enumerate(value):
            yield from [(*value[:k], other, *value[k + 1 :]) for other in changed(part)]
        if value:
            yield value[:-1]
            yield (*value, value[-1])
        elif all(isinstance(x, int) for x in value):
            yield (0,)


@pytest.mark.parametrize("name", sorted({*PROGRAMS} & {*OPCODES}))
def test_the_verifier_raises_nothing(name: str) -> None:
    original = module_with(name)
    for number, i in enumerate(original.instructions()):
        for attribute, value in i.attributes.items():
            for other in changed(value):
                module = module_with(name)
                mine = list(module.instructions())[number]
                mine.parent.set_attributes(mine, mine.attributes.with_values(**{attribute: other}))
                try:
                    violations(module)
                except Exception as problem:
                    raise AssertionError(
                        f"{i.opcode.name} {attribute}={other!r}: {type(problem).__name__}: {problem}"
                    ) from problem
