"""Numbers of tasks that are tried for a kernel."""

from __future__ import annotations

from typing import Any

import pytest

import xla_explorer as xe
from xla_explorer.compiler.codegen import nest_kernels
from xla_explorer.compiler.codegen.dispatch import kernel_writing, write_kernel
from xla_explorer.compiler.codegen.parallel_plan import ParallelPlan
from xla_explorer.compiler.target import HOST_LIKE

DOT = """HloModule m
ENTRY e {
  x = f32[96,4000] parameter(0)
  y = f32[4000,64] parameter(1)
  ROOT r = f32[96,64] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}"""
SORT = """HloModule m
less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(a, b), direction=LT }
ENTRY e {
  x = f32[4096] parameter(0)
  ROOT r = f32[4096] sort(x), dimensions={0}, to_apply=less
}"""


def _counted(monkeypatch: pytest.MonkeyPatch, where: Any, name: str) -> list[None]:
    calls: list[None] = []
    original = getattr(where, name)

    def counted(*given: Any, **named: Any) -> Any:
        calls.append(None)
        return original(*given, **named)

    monkeypatch.setattr(where, name, counted)
    return calls


@pytest.mark.parametrize(
    ("tasks", "threads", "wanted"),
    [(12, 3, (12, 9, 6, 3)), (7, 3, (7, 6, 3)), (3, 3, (3,)), (2, 3, (2,)), (8, 2, (8, 6, 4, 2))],
)
def test_fewer_tasks_are_as_many_for_each_thread(
    tasks: int, threads: int, wanted: tuple[int, ...]
) -> None:
    assert ParallelPlan(tasks, threads, 1e6, 0, 0, 0, 1e3).attempts == wanted


def test_a_nest_is_lowered_once_for_all_numbers_of_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    lowered = _counted(monkeypatch, nest_kernels, "lower")
    i = xe.parse_hlo(DOT).entry.root
    assert write_kernel(i, HOST_LIKE, None, 10**6).tasks == 1
    made = write_kernel(i, HOST_LIKE, None, 10**6, 10**5, 2)
    assert made.tasks == 2 and len(lowered) == 2
    assert made.body == write_kernel(i, HOST_LIKE, None, 2).body


def test_a_kernel_that_no_number_divides_is_sequential(monkeypatch: pytest.MonkeyPatch) -> None:
    written = _counted(monkeypatch, kernel_writing, "opaque_kernel")
    i = xe.parse_hlo(SORT).entry.root
    made = write_kernel(i, HOST_LIKE, None, 8, 6, 4, 2)
    assert made.tasks == 1 and len(written) == 5
    assert made.body == write_kernel(i, HOST_LIKE, None).body
