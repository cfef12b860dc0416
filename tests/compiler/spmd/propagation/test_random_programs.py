"""Properties of propagation on random programs, meshes and annotations."""

from __future__ import annotations

import math
import random

import pytest

import xla_explorer as xe
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import make_pass
from xla_explorer.compiler.spmd.propagation.report import sharding_report
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.verifier import verify

SIZES = (4, 6, 8, 12)


def annotation(rng: random.Random, axes: list[str]) -> str:
    """Draw a sharding of a matrix over some axes; dimensions are open or closed."""
    free = rng.sample(axes, len(axes))
    parts = []
    for _ in range(2):
        used = [free.pop() for _ in range(rng.randint(0, min(1, len(free))))]
        inner = [f'\\"{axis}\\"' for axis in used] + (["?"] if rng.random() < 0.5 else [])
        parts.append("{" + ", ".join(inner) + "}")
    return f'xla.sdy.sharding="#sdy.sharding<@mesh, [{", ".join(parts)}]>"'


def drawn(seed: int) -> HloModule:
    """Draw a program of matrix operations, some of them annotated."""
    rng = random.Random(seed)
    axes = ["x", "y", "z"][: rng.randint(1, 3)]
    sizes = [rng.choice([2, 2, 3, 4]) for _ in axes]
    mesh = ", ".join([f'"{axis}"={size}' for axis, size in zip(axes, sizes, strict=True)])
    ids = list(range(int(math.prod(sizes))))
    rng.shuffle(ids)
    order = f", device_ids={ids}" if rng.random() < 0.3 else ""
    lines, shapes = [], []
    for k in range(rng.randint(1, 3)):
        shape = (rng.choice(SIZES), rng.choice(SIZES))
        stated = f", frontend_attributes={{{annotation(rng, axes)}}}" if rng.random() < 0.7 else ""
        lines.append(f"v{k} = f32[{shape[0]},{shape[1]}] parameter({k}){stated}")
        shapes.append(shape)
    for k in range(len(shapes), len(shapes) + rng.randint(2, 8)):
        text, shape = operation(rng, shapes, axes)
        lines.append(f"v{k} = f32[{shape[0]},{shape[1]}] {text}")
        shapes.append(shape)
    lines[-1] = "ROOT " + lines[-1]
    header = f"HloModule m, num_partitions={len(ids)}, frontend_attributes="
    header += f"{{xla.sdy.meshes={{mesh = #sdy.mesh<[{mesh}]{order}>}}}}\n"
    return xe.parse_hlo(header + "ENTRY main {\n" + "\n".join(lines) + "\n}")


def operation(
    rng: random.Random, shapes: list[tuple[int, int]], axes: list[str]
) -> tuple[str, tuple[int, int]]:
    k = rng.randrange(len(shapes))
    rows, columns = shapes[k]
    same = [j for j, shape in enumerate(shapes) if shape == (rows, columns)]
    fits = [j for j, shape in enumerate(shapes) if shape[0] == columns]
    kind = rng.choice(["unary", "binary", "transpose", "dot", "constraint", "reshape"])
    if kind == "binary":
        return f"add(v{k}, v{rng.choice(same)})", (rows, columns)
    if kind == "transpose":
        return f"transpose(v{k}), dimensions={{1,0}}", (columns, rows)
    if kind == "dot" and fits:
        j = rng.choice(fits)
        numbers = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
        return f"dot(v{k}, v{j}), {numbers}", (rows, shapes[j][1])
    if kind == "constraint":
        stated = annotation(rng, axes)
        call = f'custom-call(v{k}), custom_call_target="Sharding"'
        return f"{call}, frontend_attributes={{{stated}}}", (rows, columns)
    if kind == "reshape" and rows % 2 == 0:
        return f"reshape(v{k})", (rows // 2, columns * 2)
    return f"negate(v{k})", (rows, columns)


@pytest.mark.parametrize("policy", ["shardy-xla", "sharding-propagation"])
@pytest.mark.parametrize("first", [0, pytest.param(100, marks=pytest.mark.long)])
def test_random_programs_keep_values_and_propagate_once(policy: str, first: int) -> None:
    count = 30 if first == 0 else 300
    for seed in range(first, first + count):
        module = drawn(seed)
        given = xe.random_arguments(module, seed)
        before = xe.evaluate(module, *given)
        make_pass(policy).run(module, PassContext())
        verify(module)
        assert (xe.evaluate(module, *given) == before).all(), seed
        once = str(module)
        assert str(xe.parse_hlo(once)) == once, seed
        if policy == "shardy-xla":
            make_pass(policy).run(module, PassContext())
            assert str(module) == once, seed


def test_no_value_uses_an_axis_twice_and_closed_dimensions_stay() -> None:
    for seed in range(200):
        report = sharding_report(drawn(seed))
        for value in report.graph.all_values():
            if value.sharding is not None:
                names = value.sharding.axes
                for k, one in enumerate(names):
                    assert not any(one.overlaps(other) for other in names[:k]), (seed, value)
        for constraint in report.graph.constraints():
            stated, found = constraint.annotated, constraint.results[0].value.sharding
            assert stated is not None and found is not None
            for axes, closed, now in zip(
                stated.dimensions, stated.closed, found.dimensions, strict=True
            ):
                assert not closed or axes == now, (seed, constraint)
