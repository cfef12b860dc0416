"""Products of several bf16 products come nearer to f32 with each of them."""

from __future__ import annotations

import numpy as np
import pytest

from xla_explorer.compiler.pipeline import optimize
from xla_explorer.compiler.pipeline.runner import PassFailedError
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.text import parse_hlo

DOT = """HloModule m
ENTRY e {{
  x = f32[8,32] parameter(0)
  y = f32[32,8] parameter(1)
  ROOT d = f32[8,8] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}{rest}
}}
"""


@pytest.mark.parametrize(
    ("algorithm", "dots", "error"),
    [
        ("dot_bf16_bf16_f32", 1, 1e-1),
        ("dot_bf16_bf16_f32_x3", 3, 1e-3),
        ("dot_bf16_bf16_f32_x6", 6, 1e-5),
        ("dot_bf16_bf16_f32_x9", 9, 1e-5),
    ],
)
def test_more_products_are_nearer_to_f32(algorithm: str, dots: int, error: float) -> None:
    module = parse_hlo(DOT.format(rest=f", algorithm={algorithm}"))
    made = optimize(module, "dot-algorithm-rewriter", verify=True).module
    found = [i for i in made.instructions() if i.opcode.name == "dot"]
    assert len(found) == dots
    random = np.random.default_rng(5)
    x = random.standard_normal((8, 32)).astype(np.float32)
    y = random.standard_normal((32, 8)).astype(np.float32)
    [got] = flatten_value(evaluate(made, x, y))
    np.testing.assert_allclose(got, x.astype(np.float64) @ y, atol=error)


def test_an_infinite_operand_gives_the_infinity_of_the_largest_product() -> None:
    module = parse_hlo(DOT.format(rest=", algorithm=dot_bf16_bf16_f32_x3"))
    made = optimize(module, "dot-algorithm-rewriter", verify=True).module
    x = np.full((8, 32), np.inf, np.float32)
    [got] = flatten_value(evaluate(made, x, np.ones((32, 8), np.float32)))
    assert np.isposinf(got).all()


def test_dots_without_an_algorithm_stay_unless_asked_for() -> None:
    assert not optimize(parse_hlo(DOT.format(rest="")), "dot-algorithm-rewriter").changed
    passes = "dot-algorithm-rewriter{default_to_bf16=true}"
    assert optimize(parse_hlo(DOT.format(rest="")), passes).changed


def test_narrow_sums_are_refused_by_name() -> None:
    module = parse_hlo(
        "HloModule m\nadd {\n a = bf16[] parameter(0)\n b = bf16[] parameter(1)\n"
        " ROOT s = bf16[] add(a, b)\n}\n"
        "ENTRY e {\n x = bf16[8] parameter(0)\n z = bf16[] constant(0)\n"
        " ROOT total = bf16[] reduce(x, z), dimensions={0}, to_apply=add\n}\n"
    )
    with pytest.raises(PassFailedError, match="total"):
        optimize(module, "unstable-reduction-detector{mode=fail}")
    with pytest.warns(UserWarning, match="1 unstable"):
        optimize(module, "unstable-reduction-detector")
