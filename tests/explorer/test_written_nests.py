"""The loops that a session shows of a kernel are the nest that the kernel was made from."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.compiler.codegen.nest.directives import DirectiveRefusedError
from xla_explorer.compiler.codegen.nest.schedule_text import ScheduleError
from xla_explorer.explorer.code import loop_nests
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.evaluator import flatten_value

PADS = [(1, 0, 1, 0, 0, 0), (0, 0, 2, 1, 1, 1), (2, 3, 1, 0, 0, 3), (0, 0, 0, 0, 0, 1)]


def pad(shape: tuple[int, int], rows: tuple[int, ...], element_type: str) -> str:
    sizes = [
        n + low + high + inside * (n - 1)
        for n, (low, high, inside) in zip(shape, (rows[:3], rows[3:]), strict=True)
    ]
    padding = "x".join("_".join(map(str, row)) for row in (rows[:3], rows[3:]))
    return f"""HloModule m
ENTRY e {{
  x = {element_type}[{shape[0]},{shape[1]}] parameter(0)
  z = {element_type}[] parameter(1)
  ROOT r = {element_type}[{sizes[0]},{sizes[1]}] pad(x, z), padding={padding}
}}"""


UPDATE = """HloModule m
ENTRY e {
  x = f32[64,64] parameter(0)
  u = f32[4,64] parameter(1)
  i = s32[] parameter(2)
  z = s32[] constant(0)
  d = f32[64,64] dynamic-update-slice(x, u, i, z)
  n = f32[64,64] negate(x)
  ROOT t = (f32[64,64], f32[64,64]) tuple(d, n)
}"""
TEXTS = [
    pad(shape, rows, t)
    for shape, rows, t in itertools.product(((8, 5), (1, 64), (33, 2)), PADS, ("f32", "s8", "f64"))
]
NEGATE = "HloModule m\nENTRY e {\n x = f32[32,6] parameter(0)\n ROOT r = f32[32,6] negate(x)\n}"


@pytest.mark.parametrize("backend", ["cpu", "gpu"])
@pytest.mark.parametrize("text", [*TEXTS[::5], UPDATE], ids=lambda x: x[20:60])
def test_every_view_shows_a_pad_with_gaps_and_an_update(
    text: str, backend: str, tmp_path: Path
) -> None:
    session = xe.compile(text, backend=backend, cache=False)
    loops = session.loops()
    assert loops and all(k.is_nest for k in loops)
    for k in loops:
        if k.made_by == "policy":
            assert (
                session.schedule(k.name).nest is not None
                and str(session.schedule(k.name)) == k.schedule
            )
    session._repr_mimebundle_()
    session.save(str(tmp_path / "page.html"))


@pytest.mark.usefixtures("runs_here")
@pytest.mark.parametrize("text", [*TEXTS[::7], UPDATE], ids=lambda x: x[20:60])
def test_the_schedule_that_is_shown_can_be_given_again(text: str) -> None:
    session = xe.compile(text, cache=False)
    arguments = xe.random_arguments(text)
    for k in [
        k for k in session.loops() if k.made_by == "policy"
    ]:  # a copy of memory has no kernel
        again = session.override(schedules=[session.schedule(k.name)])
        assert (
            str(again.schedule(k.name)) == k.schedule
            and again.schedule(k.name).written_by == "user"
        )
        for a, b in zip(
            flatten_value(session(*arguments)), flatten_value(again(*arguments)), strict=True
        ):
            np.testing.assert_array_equal(a, b)


def test_a_kernel_that_cannot_be_shown_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    session = xe.compile(UPDATE, cache=False)
    whole = loop_nests._scheduled_loops
    (directive,) = session.schedule("copy_x").collapse("i", "j").directives

    def refused(compilation: object, i: object, *rest: object) -> object:
        if i.name.startswith("dynamic-update-slice"):  # type: ignore[attr-defined]
            raise DirectiveRefusedError(directive, Reason("no-such-axis", "no axis", {}))
        return whole(compilation, i, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(loop_nests, "_scheduled_loops", refused)
    shown = {k.name: k.is_nest for k in session.loops()}
    assert len(shown) == 3 and [name for name, is_nest in shown.items() if not is_nest] == [
        "dynamic-update-slice_fusion"
    ]
    assert issubclass(DirectiveRefusedError, XlaExplorerError)


@pytest.mark.parametrize("directive", ["block{i}", "thread{i}", "warp{i}"])
def test_a_cpu_refuses_the_axes_of_a_launch_at_once(directive: str) -> None:
    schedule = xe.compile(NEGATE, cache=False).schedule("wrapped_negate").plain()
    with pytest.raises(ScheduleError, match="a CPU has no launch"):
        schedule.then(directive)
    on_gpu = xe.compile(NEGATE, backend="gpu", cache=False)
    assert str(on_gpu.schedule("wrapped_negate").plain().then(directive)) == directive


def test_unrolled_axes_have_a_bound_together() -> None:
    text = NEGATE.replace("32,6", "64,64,64")
    schedule = (
        xe.compile(text, cache=False)
        .schedule("wrapped_negate")
        .plain()
        .split("i", 8)
        .split("j", 64)
    )
    made = schedule.unroll("ii").unroll("ji")
    with pytest.raises(ScheduleError, match="there would be 32768 unrolled instances"):
        made.unroll("k")
