"""Compiling is a function of the module: the same text after every pass, again in this process and in one that hashes otherwise.

What chooses between equals by the order of a set chooses by addresses, which differ from compile to compile.
"""

from __future__ import annotations

import hashlib
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from xla_explorer import compiler
from xla_explorer.backends.cpu_program.cpu_pipeline import cpu_pipeline
from xla_explorer.backends.cpu_program.described_cpu import described_cpu
from xla_explorer.backends.llvm.target_machine import describe_target
from xla_explorer.compiler.pipeline.optimize import optimize
from xla_explorer.hlo.text import parse_hlo


def _many_readers(seed: int, count: int = 400) -> str:
    """A graph whose values have readers far apart, so that many of them are last read at one moment."""
    choice = random.Random(seed)
    lines = [f"p{n} = f32[64,64] parameter({n})" for n in range(4)]
    names = [f"p{n}" for n in range(4)]
    for n in range(count):
        a, b = choice.choice(names[-40:]), choice.choice(names)
        opcode = choice.choice(("minimum", "maximum", "multiply", "subtract", "tanh"))
        root = "ROOT " if n == count - 1 else ""
        lines.append(f"{root}v{n} = f32[64,64] {opcode}({a})" if opcode == "tanh" else f"{root}v{n} = f32[64,64] {opcode}({a}, {b})")
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
    trace = optimize(parse_hlo(text), cpu_pipeline(), target=described_cpu(describe_target("x86_64-unknown-linux-gnu", "x86-64-v3")))
    made = [(step.name, trace.at(number).to_text()) for number, step in enumerate(trace.steps)]
    return [(name, hashlib.sha256(left.encode()).hexdigest()) for name, left in [*made, ("result", trace.module.to_text())]]


@pytest.mark.parametrize("name", PROGRAMS)
def test_twice_in_one_process(name: str) -> None:
    first = digests(PROGRAMS[name])
    kept = [object() for _ in range(999)]  # so that the second compile's objects lie elsewhere
    assert digests(PROGRAMS[name]) == first
    assert len(kept) == 999


def test_in_a_process_that_hashes_otherwise() -> None:
    code = "from tests.compiler.pipeline.test_same_text_every_time import *\nfor text in PROGRAMS.values(): print(digests(text))"
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed})
    assert done.stdout.splitlines() == [str(digests(text)) for text in PROGRAMS.values()]


def test_no_statement_of_a_pass_walks_a_set() -> None:
    # What the body does would be done in the order of addresses; `dict.fromkeys` has each once in the order given.
    walked = re.compile(r"^\s*for \w+ in (set\(|\{[^:]*\}:)", re.MULTILINE)
    package = Path(compiler.__file__).parent
    assert [path.name for path in sorted(package.rglob("*.py")) if walked.search(path.read_text())] == []
