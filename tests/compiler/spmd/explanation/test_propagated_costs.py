"""Estimates of annotations from propagated shardings, beside the costs of partitioned programs."""

from __future__ import annotations

import pytest

import xla_explorer as xe
from xla_explorer.compiler.spmd.explanation.propagated_costs import PropagatedCosts
from xla_explorer.explorer.devices.devices import Devices

LAYERS = 3
WAYS = {
    "replicated": ((), ()),
    "batch": ((("data", "model"), ()), ((), ())),
    "megatron": ((("data",), ()), ((), ("model",))),
    "hidden": (((), ("data",)), ((), ("model",))),
}


def mlp(batch: int, features: int, hidden: int) -> str:
    lines = [f"x0 = f32[{batch},{features}] parameter(0)"]
    numbers = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    for k in range(LAYERS):
        lines += [
            f"a{k} = f32[{features},{hidden}] parameter({2 * k + 1})",
            f"b{k} = f32[{hidden},{features}] parameter({2 * k + 2})",
            f"h{k} = f32[{batch},{hidden}] dot(x{k}, a{k}), {numbers}",
            f"t{k} = f32[{batch},{hidden}] tanh(h{k})",
            f"x{k + 1} = f32[{batch},{features}] dot(t{k}, b{k}), {numbers}",
        ]
    lines[-1] = "ROOT " + lines[-1]
    return "HloModule m\nENTRY main {\n" + "\n".join(lines) + "\n}"


def specs_of(way: str) -> dict[str, tuple[tuple[str, ...], ...]]:
    batch, weights = WAYS[way]
    if way == "replicated":
        return {}
    found = {"x0": batch}
    for k in range(LAYERS):
        found[f"a{k}"], found[f"b{k}"] = weights, weights[::-1]
    return found


@pytest.mark.long
@pytest.mark.parametrize("sizes", [(16384, 512, 1024), (512, 4096, 16384)])
def test_the_order_of_estimates_is_that_of_partitioned_programs(
    sizes: tuple[int, int, int],
) -> None:
    module = xe.sharding.annotate(xe.parse_hlo(mlp(*sizes)), "data=2,model=4")
    costs, devices = PropagatedCosts(module, "h100"), Devices(module, "h100")
    before = str(module)
    found = {way: costs.cost(specs_of(way)) for way in WAYS}
    exact = {way: devices.what_if(specs_of(way)).figures()["step_us"] for way in WAYS}
    assert sorted(WAYS, key=lambda way: found[way].us) == sorted(WAYS, key=exact.get)
    for way, one in found.items():
        assert 0.8 < one.us / exact[way] < 2.5, way
    assert str(module) == before
    assert costs.cost(specs_of("replicated")) == found["replicated"]  # nothing stays of the others


def test_arguments_on_one_device_are_counted() -> None:
    module = xe.sharding.annotate(xe.parse_hlo(mlp(64, 32, 128)), "data=2,model=4")
    costs = PropagatedCosts(module, "h100")
    weights = LAYERS * 2 * 32 * 128 * 4
    assert costs.cost({}).argument_bytes == 64 * 32 * 4 + weights
    split = costs.cost(specs_of("megatron")).argument_bytes
    assert split == 64 * 32 * 4 // 2 + weights // 4


def test_operations_in_loops_count_their_trips() -> None:
    text = """HloModule m
    body { s = (s32[], f32[1024,1024]) parameter(0)
      i = s32[] get-tuple-element(s), index=0  x = f32[1024,1024] get-tuple-element(s), index=1
      one = s32[] constant(1)  next = s32[] add(i, one)
      y = f32[1024,1024] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
      ROOT t = (s32[], f32[1024,1024]) tuple(next, y) }
    cond { s = (s32[], f32[1024,1024]) parameter(0)
      i = s32[] get-tuple-element(s), index=0  n = s32[] constant(TRIPS)
      ROOT p = pred[] compare(i, n), direction=LT }
    ENTRY main { x = f32[1024,1024] parameter(0)  zero = s32[] constant(0)
      s = (s32[], f32[1024,1024]) tuple(zero, x)
      w = (s32[], f32[1024,1024]) while(s), condition=cond, body=body
      ROOT y = f32[1024,1024] get-tuple-element(w), index=1 }"""
    times = [
        PropagatedCosts(
            xe.sharding.annotate(xe.parse_hlo(text.replace("TRIPS", str(n))), "d=2"), "h100"
        )
        .cost({})
        .us
        for n in (2, 20)
    ]
    assert times[1] == pytest.approx(10 * times[0], rel=0.05)
