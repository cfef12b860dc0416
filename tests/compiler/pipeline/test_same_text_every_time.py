"""Compiling is deterministic: the same text after every pass, also with another hash seed.

Choosing between equals by the order of a set means choosing by addresses, which differ from compile
to compile.

What chooses between equals by the order of a set chooses by addresses, which differ from compile to
compile.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from xla_explorer import compiler
from xla_explorer.backends.cpu_program.cpu_pipeline import cpu_pipeline
from xla_explorer.backends.cpu_program.described_cpu import described_cpu
from xla_explorer.backends.llvm.target_machine import describe_target
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.optimize import optimize
from xla_explorer.compiler.transforms.library_calls.epilogue_matching import epilogue_of
from xla_explorer.compiler.transforms.scheduling.memory_scheduler import schedule_computation
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.text import parse_hlo


def _many_readers(seed: int, count: int = 400) -> str:
    """Return a graph whose values have distant readers: many are last read at one moment."""
    choice = random.Random(seed)
    lines = [f"p{n} = f32[64,64] parameter({n})" for n in range(4)]
    names = [f"p{n}" for n in range(4)]
    for n in range(count):
        a, b = choice.choice(names[-40:]), choice.choice(names)
        opcode = choice.choice(("minimum", "maximum", "multiply", "subtract", "tanh"))
        root = "ROOT " if n == count - 1 else ""
        lines.append(
            f"{root}v{n} = f32[64,64] {opcode}({a})"
            if opcode == "tanh"
            else f"{root}v{n} = f32[64,64] {opcode}({a}, {b})"
        )
        names.append(f"v{n}")
    return "HloModule m\nENTRY e {\n  " + "\n  ".join(lines) + "\n}"


LOOP = """HloModule loop
body {
  s = (s32[], f32[8,8], f32[8,8]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  x = f32[8,8] get-tuple-element(s), index=1
  y = f32[8,8] get-tuple-element(s), index=2
  one = s32[] constant(1)
  m = s32[] add(n, one)
  d = f32[8,8] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  a = f32[8,8] tanh(d)
  ROOT t = (s32[], f32[8,8], f32[8,8]) tuple(m, y, a)
}
condition {
  s = (s32[], f32[8,8], f32[8,8]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  k = s32[] constant(5)
  ROOT l = pred[] compare(n, k), direction=LT
}
ENTRY e {
  s = (s32[], f32[8,8], f32[8,8]) parameter(0)
  ROOT w = (s32[], f32[8,8], f32[8,8]) while(s), condition=condition, body=body
}"""
PROGRAMS = {"many-readers": _many_readers(1), "other-readers": _many_readers(4), "loop": LOOP}


def digests(text: str) -> list[tuple[str, str]]:
    """(pass, digest of the text that it leaves)."""
    trace = optimize(
        parse_hlo(text),
        cpu_pipeline(),
        target=described_cpu(describe_target("x86_64-unknown-linux-gnu", "x86-64-v3")),
    )
    made = [(step.name, trace.at(number).to_text()) for number, step in enumerate(trace.steps)]
    return [
        (name, hashlib.sha256(left.encode()).hexdigest())
        for name, left in [*made, ("result", trace.module.to_text())]
    ]


def _by_id(x: HloInstruction | HloComputation) -> int:
    return x.id


def _backwards(x: HloInstruction | HloComputation) -> int:
    return -x.id


def _scrambled(x: HloInstruction | HloComputation) -> int:
    return x.id * 2654435761 % (1 << 31)


@pytest.mark.parametrize("name", PROGRAMS)
def test_whatever_the_order_of_sets(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Instructions hash by their addresses; here the hash, and with it the order in which every set
    # of them is walked, is chosen.
    found = []
    for order in (_by_id, _backwards, _scrambled):
        for kind in (HloInstruction, HloComputation):
            monkeypatch.setattr(kind, "__hash__", order)
        found.append(digests(PROGRAMS[name]))
    assert found[1:] == found[:1] * 2


# When `i` has run, `u` alone reads both `a` and `g`; which of the two is counted first decides
# whether `u` or `v` comes next.
TWO_LAST_READERS = """HloModule m
ENTRY e {
  p = (f32[64], f32[64], f32[64]) parameter(0)
  g = f32[64] get-tuple-element(p), index=0
  x = f32[64] get-tuple-element(p), index=1
  y = f32[64] get-tuple-element(p), index=2
  b = f32[64] tanh(y)
  a = f32[64] negate(x)
  i = f32[64] add(g, a)
  u = f32[64] multiply(g, a)
  v = f32[32] slice(b), slice={[0:32]}, control-predecessors={i}
  ROOT r = (f32[64], f32[64], f32[32]) tuple(i, u, v)
}"""
# Both `f` and `p` are ready when `q` is computed.
GELU = """HloModule m
ENTRY e {
  x = f32[8,16] parameter(0)
  y = f32[16,12] parameter(1)
  h = f32[8,12] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  c1 = f32[] constant(0.044715)
  k1 = f32[8,12] broadcast(c1), dimensions={}
  c2 = f32[] constant(0.7978845608)
  k2 = f32[8,12] broadcast(c2), dimensions={}
  c3 = f32[] constant(0.5)
  k3 = f32[8,12] broadcast(c3), dimensions={}
  c4 = f32[] constant(1)
  k4 = f32[8,12] broadcast(c4), dimensions={}
  q = f32[8,12] multiply(h, h)
  f = f32[8,12] multiply(k3, h)
  z = f32[8,12] multiply(q, k1)
  p = f32[8,12] multiply(h, z)
  u = f32[8,12] add(p, h)
  t = f32[8,12] multiply(k2, u)
  th = f32[8,12] tanh(t)
  g = f32[8,12] add(k4, th)
  ROOT r = f32[8,12] multiply(f, g)
}"""


def _scheduled() -> list[str]:
    return [i.name for i in schedule_computation(parse_hlo(TWO_LAST_READERS).entry, PassContext())]


def _taken_along() -> list[str]:
    [dot] = [i for i in parse_hlo(GELU).entry.instructions.values() if i.opcode.name == "dot"]
    found = epilogue_of(dot)
    assert found.name == "gelu"
    return [i.name for i in found.members]


@pytest.mark.parametrize("choose", [_scheduled, _taken_along])
def test_a_choice_does_not_depend_on_the_order_of_sets(
    choose: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for order in (_by_id, _backwards, _scrambled):
        monkeypatch.setattr(HloInstruction, "__hash__", order)
        found.append(choose())
    assert found[1:] == found[:1] * 2


def test_the_order_of_sets_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    module, orders = parse_hlo(LOOP), []
    for order in (_by_id, _backwards, _scrambled):
        monkeypatch.setattr(HloInstruction, "__hash__", order)
        orders.append(
            [
                i.name
                for i in set(module.entry.instructions.values())
                | set(module.computations["body"].instructions.values())
            ]
        )
    assert len({tuple(names) for names in orders}) == 3


def test_in_a_process_that_hashes_otherwise() -> None:
    code = "from tests.compiler.pipeline.test_same_text_every_time import *\nfor text in PROGRAMS.values(): print(digests(text))"
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )
    assert done.stdout.splitlines() == [str(digests(text)) for text in PROGRAMS.values()]


def test_no_statement_of_a_pass_walks_a_set() -> None:
    # The body would run in the order of addresses; `dict.fromkeys` has each once in the given
    # order.
    walked = re.compile(r"^\s*for \w+ in (set\(|\{[^:]*\}:)", re.MULTILINE)
    package = Path(compiler.__file__).parent
    assert [
        path.name for path in sorted(package.rglob("*.py")) if walked.search(path.read_text())
    ] == []
