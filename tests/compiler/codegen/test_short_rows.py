"""Elementwise code over short rows as one loop: the evaluator's values for rows and columns."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.compiler.codegen import parallel_plan

HEAD = "HloModule m\nENTRY e {{ x = {t}[{n},{k}] parameter(0)\n r = {t}[{n}] parameter(1)\n c = {t}[{k}] parameter(2)\n"
ROWS = " b = {t}[{n},{k}] broadcast(r), dimensions={{0}}\n"
COLUMNS = " d = {t}[{n},{k}] broadcast(c), dimensions={{1}}\n"
BODIES = {
    "rows": ROWS + " ROOT q = {t}[{n},{k}] multiply(x, b) }}",
    "columns": COLUMNS + " ROOT q = {t}[{n},{k}] subtract(x, d) }}",
    "both": ROWS
    + COLUMNS
    + " s = {t}[{n},{k}] add(x, b)\n ROOT q = {t}[{n},{k}] multiply(s, d) }}",
    "computed-row": " z = {t}[{n}] negate(r)\n b = {t}[{n},{k}] broadcast(z), dimensions={{0}}\n ROOT q = {t}[{n},{k}] add(x, b) }}",
    "twice": ROWS + " s = {t}[{n},{k}] add(x, b)\n p = {t}[{n},{k}] maximum(b, x)\n"
    " ROOT q = ({t}[{n},{k}], {t}[{n},{k}]) tuple(s, p) }}",
    "scalar-too": ROWS
    + " h = {t}[] constant(2)\n g = {t}[{n},{k}] broadcast(h), dimensions={{}}\n s = {t}[{n},{k}] add(b, g)\n"
    " ROOT q = {t}[{n},{k}] multiply(x, s) }}",
}


def compiled(body: str, t: str, n: int, k: int, threads: int) -> xe.Session:
    return xe.compile(
        (HEAD + BODIES[body]).format(t=t, n=n, k=k), backend="cpu", threads=threads, cache=False
    )


def schedules_of(session: xe.Session) -> str:
    return "; ".join(
        [d.reason.message for d in session.executable.program.decisions if d.kind == "loop-nest"]
    )


CASES = [(body, "f32", 1000, 10) for body in BODIES]
CASES += [
    ("both", "f64", 360, 3),
    ("both", "s32", 96, 31),
    ("both", "bf16", 640, 5),
    ("both", "u8", 800, 2),
]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("body", "t", "n", "k"), CASES)
def test_values(
    monkeypatch: pytest.MonkeyPatch, body: str, t: str, n: int, k: int, threads: int
) -> None:
    monkeypatch.setattr(parallel_plan, "TASK_WAKES", 1e-9)
    session = compiled(body, t, n, k, threads)
    assert ("repeating" in schedules_of(session)) == (k < 16)
    random = np.random.default_rng(6)
    arrays = [
        random.integers(0, 9, p.shape.dimensions).astype(p.shape.element_type.dtype)
        for p in session.module.entry.parameters()
    ]
    wanted = xe.compile(
        (HEAD + BODIES[body]).format(t=t, n=n, k=k), backend="interpreter"
    ).run_flat(arrays)
    for _ in range(3):
        for got, value in zip(session.run_flat(arrays), wanted, strict=True):
            np.testing.assert_array_equal(got, value)


def test_softmax_over_few_classes_in_blocks_of_rows() -> None:
    f = "{ a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] %s(a, b) }\n"
    text = (
        "HloModule m\nlargest "
        + f % "maximum"
        + "total "
        + f % "add"
        + "ENTRY e { x = f32[40000,10] parameter(0)\n"
        " low = f32[] constant(-inf)\n zero = f32[] constant(0)\n m = f32[40000] reduce(x, low), dimensions={1}, to_apply=largest\n"
        " b = f32[40000,10] broadcast(m), dimensions={0}\n d = f32[40000,10] subtract(x, b)\n e = f32[40000,10] exponential(d)\n"
        " s = f32[40000] reduce(e, zero), dimensions={1}, to_apply=total\n t = f32[40000,10] broadcast(s), dimensions={0}\n"
        " ROOT q = f32[40000,10] divide(e, t) }"
    )
    x = np.random.default_rng(1).standard_normal((40000, 10)).astype(np.float32)
    power = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
    for threads in (1, 2):
        session = xe.compile(text, backend="cpu", threads=threads, cache=False)
        assert len(session.decisions("cache-blocking")) and "repeating" in schedules_of(session)
        np.testing.assert_allclose(session(x), power / power.sum(-1, keepdims=True), rtol=2e-6)


@pytest.mark.parametrize(("n", "k"), [(1000, 16), (1000, 64), (997, 10), (3, 2), (5, 13), (1, 10)])
def test_rows_and_lengths_of_any_kind(n: int, k: int) -> None:
    session = compiled("both", "f32", n, k, 1)
    x, r, c = [
        np.random.default_rng(k).standard_normal(s).astype(np.float32) for s in ((n, k), (n,), (k,))
    ]
    np.testing.assert_allclose(session(x, r, c), (x + r[:, None]) * c, rtol=1e-6)
