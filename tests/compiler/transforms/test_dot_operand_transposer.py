"""Dots over several dimensions whose order in memory differs become dots of matrices."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.compiler.codegen.kernels.products.dot_geometry import strided_operands

SIZES = {"m": 12, "n": 9, "p": 4, "q": 3, "b": 2}


def program(lhs: str, rhs: str, order: str) -> str:
    """Return a dot with dimensions named by letters: b(atch), m, n free, p, q contracted."""
    shapes = [",".join(str(SIZES[d]) for d in dims) for dims in (lhs, rhs)]
    batch = (
        f"lhs_batch_dims={{{lhs.index('b')}}}, rhs_batch_dims={{{rhs.index('b')}}}, "
        if "b" in lhs
        else ""
    )
    contracted = [",".join(str(dims.index(d)) for d in order) for dims in (lhs, rhs)]
    result = ("2," if batch else "") + "12,9"
    return f"""HloModule m
ENTRY e {{
  x = f32[{shapes[0]}] parameter(0)
  y = f32[{shapes[1]}] parameter(1)
  ROOT r = f32[{result}] dot(x, y), {batch}lhs_contracting_dims={{{contracted[0]}}}, rhs_contracting_dims={{{contracted[1]}}}
}}"""


CASES = [
    (left, right, order)
    for letters in ("", "b")
    for left, right in itertools.product(
        itertools.permutations(f"{letters}mpq"), itertools.permutations(f"{letters}npq")
    )
    for order in ("pq", "qp")
    if not letters or (left[0] == right[0] == "b")
]


@pytest.mark.parametrize(
    "case", CASES[::3], ids=lambda case: f"{''.join(case[0])}-{''.join(case[1])}-{case[2]}"
)
def test_contracted_dimensions_become_one(
    case: tuple[tuple[str, ...], tuple[str, ...], str],
) -> None:
    left, right, order = "".join(case[0]), "".join(case[1]), case[2]
    module = xe.parse_hlo(program(left, right, order))
    made = xe.optimize(module, "dot-operand-transposer", verify=True).module
    (dot,) = [i for i in made.instructions() if i.opcode.name == "dot"]
    contracted = [dot.attributes.value(f"{side}_contracting_dims") for side in ("lhs", "rhs")]
    assert all(list(dims) == list(range(dims[0], dims[0] + 2)) for dims in contracted)
    assert "b" in left or strided_operands(dot) is not None
    arguments = xe.random_arguments(module)
    np.testing.assert_allclose(
        np.asarray(xe.evaluate(made, *arguments)),
        np.asarray(xe.evaluate(module, *arguments)),
        rtol=1e-5,
        atol=1e-5,
    )


@pytest.mark.usefixtures("runs_here")
@pytest.mark.parametrize("element_type", ["f32", "s8", "bf16", "c64"])
def test_native_code_has_the_evaluators_values(element_type: str) -> None:
    for left, right, order in CASES[::11]:
        module = xe.parse_hlo(
            program("".join(left), "".join(right), order).replace("f32", element_type)
        )
        arguments = tuple(
            [
                np.round(x * x.dtype.type(3)).astype(x.dtype) if element_type != "c64" else x
                for x in xe.random_arguments(module)
            ]
        )
        found, wanted = [
            np.asarray(f).astype(np.complex128)
            for f in (xe.compile(module, cache=False)(*arguments), xe.evaluate(module, *arguments))
        ]
        np.testing.assert_allclose(
            found, wanted, rtol=2e-2 if element_type == "bf16" else 1e-4, atol=1e-3
        )


def test_a_skinny_product_is_left_as_it_is() -> None:
    text = program("pmq", "npq", "pq").replace("9", "2")
    assert not xe.optimize(text, "dot-operand-transposer").passes[0].changed
