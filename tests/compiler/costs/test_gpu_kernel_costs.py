"""Estimated costs of finished GPU kernels: products by their plan, reductions by their threads."""

from __future__ import annotations

import dataclasses

import pytest

import xla_explorer as xe
from xla_explorer.compiler.costs.gpu_kernel_costs import finished_kernel_estimate
from xla_explorer.compiler.target import OwnProduct, Target
from xla_explorer.compiler.target.launch_time import KernelEstimate

ADD = "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b) }\n"


@pytest.fixture(scope="module")
def target() -> Target:
    return xe.compile(
        "ENTRY e { ROOT x = f32[8] parameter(0) }", backend="gpu"
    ).passes.record.target


def estimate(target: Target, text: str) -> KernelEstimate:
    return finished_kernel_estimate(target, xe.parse_hlo(text).entry.root)


def product(kind: str, n: int) -> str:
    return f"""ENTRY e {{
  x = {kind}[{n},{n}] parameter(0)
  ROOT r = {kind}[{n},{n}] dot(x, x), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}}"""


def test_a_row_that_is_added_up_is_read_by_many_threads(target: Target) -> None:
    few, many = [
        estimate(target, f"""{ADD}ENTRY e {{
          x = f32[{rows},{columns}] parameter(0)
          z = f32[] constant(0)
          ROOT r = f32[{rows}] reduce(x, z), dimensions={{1}}, to_apply=add
        }}""") for rows, columns in ((32, 4096), (4096, 32))
    ]  # fmt: skip
    assert few.nanoseconds < 1.5 * many.nanoseconds


def test_multiplications_take_what_the_plan_of_their_kernel_says(target: Target) -> None:
    for kind in ("f32", "bf16"):
        instruction = xe.parse_hlo(product(kind, 2048)).entry.root
        plan = target.abilities.products
        assert plan is not None
        own = plan(instruction)
        assert isinstance(own, OwnProduct)
        assert finished_kernel_estimate(target, instruction).compute == pytest.approx(
            1e3 * own.arithmetic_us
        )


def test_without_a_plan_they_take_a_share_of_the_rate_of_their_type(target: Target) -> None:
    unknown = dataclasses.replace(
        target, abilities=dataclasses.replace(target.abilities, products=None)
    )
    took = {kind: estimate(unknown, product(kind, 2048)).compute for kind in ("bf16", "f32", "f64")}
    assert took["bf16"] < took["f32"] < took["f64"]
    assert target.gpu is not None
    least = 2048**3 / (
        target.gpu.own_rates.f32 * target.gpu.multiprocessors * target.gpu.clock_gigahertz
    )
    assert least < took["f32"] < 2 * least


def test_what_is_written_in_place_counts_its_own_elements(target: Target) -> None:
    small = estimate(
        target,
        """ENTRY e {
      x = f32[1000000] parameter(0)
      u = f32[64] parameter(1)
      i = s32[] parameter(2)
      ROOT r = f32[1000000] dynamic-update-slice(x, u, i)
    }""",
    )
    assert small.threads < 1000
