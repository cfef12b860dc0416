"""Damaged PTX text: an error that names the line, or a bounded run; no internal exception."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

import xla_explorer as xe
from tests.backends.gpu.emulator.ptx_kernels import COLLATZ, DOUBLE, ROW_SUM, TRANSPOSE
from xla_explorer.backends.gpu.emulator import (
    EmulatedKernel,
    GlobalMemory,
    LaunchOptions,
    parse_ptx,
)
from xla_explorer.foundation.diagnostic import XlaExplorerError

PROGRAMS = {
    "reduce": "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }\nENTRY e { x = f32[8,300] parameter(0)  z = f32[] constant(0)  "
    "ROOT r = f32[8] reduce(x, z), dimensions={1}, to_apply=add }",
    "dot": "ENTRY e { x = f16[32,32] parameter(0)  y = f16[32,32] parameter(1)  ROOT r = f16[32,32] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} }",
    "sort": "lt { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = pred[] compare(a, b), direction=LT }\nENTRY e { x = f32[64] parameter(0)  "
    "ROOT r = f32[64] sort(x), dimensions={0}, to_apply=lt }",
}  # fmt: skip


def texts() -> dict[str, str]:
    """Kernels by hand, and such as the compiler writes."""
    found = {"row_sum": ROW_SUM, "transpose": TRANSPOSE, "double": DOUBLE, "collatz": COLLATZ}
    for name, text in PROGRAMS.items():
        found[name] = str(
            xe.compile(f"HloModule m\n{text}", backend="gpu", cache=False).stage("ptx").text
        )
    return found


def damaged(text: str, choice: random.Random) -> str:
    """Return the text with tokens removed, repeated, exchanged, or made invalid numbers."""
    tokens = re.findall(r"[\w.%$]+|\s+|[^\w\s]", text)
    words = [k for k, token in enumerate(tokens) if not token.isspace()]
    for _ in range(choice.choice((1, 1, 2))):
        k = choice.choice(words)
        kind = choice.randrange(6)
        if kind == 0:
            tokens[k] = ""
        elif kind == 1:
            tokens[k] += f" {tokens[k]}"
        elif kind == 2:
            tokens[k] = tokens[choice.choice(words)]
        elif kind == 3:
            tokens[k] = choice.choice(
                (
                    "-1",
                    "0x",
                    "99999999999999999999",
                    "1e400",
                    "0fXX",
                    "<",
                    "{",
                    "}",
                    ";",
                    "[",
                    "]",
                    ",",
                    "%r999",
                    "pred",
                    ".v4",
                    "",
                )
            )
        elif kind == 4:
            tokens[k] = tokens[k][: len(tokens[k]) // 2]
        else:
            parts = tokens[k].split(".")
            tokens[k] = ".".join(choice.sample(parts, choice.randint(1, len(parts))))
    return "".join(tokens)


def run(text: str) -> None:
    module = parse_ptx(text)
    for kernel in list(module.kernels.values())[:2]:
        device = GlobalMemory()
        made = EmulatedKernel(module, kernel, device)
        arguments = [
            device.allocate(1 << 14, f"a{k}") if size == 8 else 16
            for k, (_, size) in enumerate(kernel.parameters.values())
        ]
        for address in [a for a in arguments if a != 16]:
            device.write(address, np.zeros(1 << 14, np.uint8))
        made.launch(1, min(kernel.threads or 32, 64), arguments, LaunchOptions(instructions=3000))


@pytest.fixture(scope="module")
def kernels() -> dict[str, str]:
    return texts()


@pytest.mark.parametrize(
    "first",
    [0, pytest.param(1000, marks=pytest.mark.long), pytest.param(10_000, marks=pytest.mark.slow)],
)
def test_damaged_text_ends_in_an_error_of_ours(kernels: dict[str, str], first: int) -> None:
    names = sorted(kernels)
    for seed in range(first, first + {0: 200, 1000: 3000, 10_000: 20_000}[first]):
        choice = random.Random(seed)
        text = damaged(kernels[names[seed % len(names)]], choice)
        try:
            run(text)
        except XlaExplorerError as problem:
            assert str(problem)
        except Exception as problem:
            raise AssertionError(f"seed {seed}: {type(problem).__name__}: {problem}") from problem
