"""Thousands of forbidden fusions cost no more than a compile: each is looked up, not searched."""

from __future__ import annotations

import random

import pytest

import xla_explorer as xe
from xla_explorer.compiler.pipeline import PassControl
from xla_explorer.compiler.pipeline.context import Pairs
from xla_explorer.explorer.sessions.compilation import program_steps
from xla_explorer.hlo.module import HloModule


def chain(length: int) -> str:
    lines = ["HloModule m", "ENTRY e {", "  x0 = f32[64] parameter(0)"]
    for k in range(length):
        lines += [
            f"  a{k} = f32[64] tanh(x{k})",
            f"  b{k} = f32[64] multiply(a{k}, x{k})",
            f"  x{k + 1} = f32[64] add(b{k}, a{k})",
        ]
    return "\n".join([*lines[:-1], lines[-1].replace("  x", "  ROOT x", 1), "}"])


def test_modules_are_not_rebuilt_for_each_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    session = xe.compile(chain(40))
    pairs = [tuple(pair) for pair in session.decisions("fusion")["subjects"] if len(pair) == 2]
    assert len(pairs) > 100
    made = []
    real = HloModule.from_snapshot.__func__
    monkeypatch.setattr(
        HloModule,
        "from_snapshot",
        classmethod(lambda cls, snapshot: made.append(1) or real(cls, snapshot)),
    )
    apart = session.override(forbid=[("fusion", *pair) for pair in pairs])
    assert not apart.overrides().refused
    assert len(made) < 20
    assert len(program_steps(apart)) > len(program_steps(session))


def test_pairs_are_found_as_by_search() -> None:
    chance = random.Random(0)
    for _ in range(300):
        keys = {(chance.randrange(12), chance.randrange(12)) for _ in range(chance.randrange(8))}
        left, right = [{chance.randrange(12) for _ in range(chance.randrange(5))} for _ in range(2)]
        searched = [
            k for k in keys if (k[0] in left and k[1] in right) or (k[0] in right and k[1] in left)
        ]
        pairs = Pairs(keys)
        found = pairs.between(left, right)
        assert found in searched if searched else found is None
        assert pairs.in_order(left, right) == any(k[0] in left and k[1] in right for k in keys)


def test_forced_and_forbidden_are_told_apart() -> None:
    module = xe.parse_hlo(chain(1))
    a, b = module.find("a0"), module.find("b0")
    control = PassControl(
        force={"fusion": [("a0", "%b0")]}, forbid={"fusion": [("b0", "x1")], "inlining": [("a0",)]}
    )
    assert control.forced("fusion", (a, b)) and not control.forbidden("fusion", (a, b))
    assert not control.forced("fusion", (b, a)) and control.forced("multi-output-fusion", (b, a)), (
        "equals, in either order"
    )
    assert control.forbidden("inlining", (a,)) and control.kept_apart(
        (b,), (module.find("x1"),)
    ) == ("b0", "x1")
    assert (
        control.kept_apart((module.find("x1"),), (b,)) == ("b0", "x1")
        and control.kept_apart((a,), (b,)) is None
    )
