"""Torch's tensors as arguments: those that numpy reads, and those that need a conversion first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xla_explorer as xe

torch: Any = pytest.importorskip(
    "torch", reason="torch is not installed: pip install torch, in an environment of its own"
)


def double(dtype: str, shape: str = "8") -> str:
    return f"HloModule m\nENTRY e {{\n  x = {dtype}[{shape}] parameter(0)\n  ROOT y = {dtype}[{shape}] add(x, x)\n}}"


BASE = np.arange(8, dtype=np.float32)
TENSORS = {
    "plain": ("f32", lambda t: t, 2 * BASE),
    "with a gradient": ("f32", lambda t: t.clone().requires_grad_(), 2 * BASE),
    "a weight": ("f32", torch.nn.Parameter, 2 * BASE),
    "every other": ("f32", lambda t: torch.arange(16, dtype=torch.float32)[::2], 4 * BASE),
    "expanded": ("f32", lambda t: torch.tensor([3.0]).expand(8), np.full(8, 6, np.float32)),
    "conjugated": ("c64", lambda t: torch.complex(t, t).conj(), 2 * np.conj(BASE + 1j * BASE)),
    "negated": ("f32", lambda t: torch.complex(t, t).conj().imag, -2 * BASE),
    "bfloat16": ("bf16", lambda t: t.bfloat16(), 2 * BASE),
    "bfloat16 with a gradient, turned": (
        "bf16",
        lambda t: t.bfloat16().flip(0).requires_grad_(),
        2 * BASE[::-1],
    ),
    "float8": ("f8e4m3fn", lambda t: t.to(torch.float8_e4m3fn), 2 * BASE),
    "float16": ("f16", lambda t: t.half(), 2 * BASE),
    "int64": ("s64", lambda t: t.long(), 2 * BASE),
}


@pytest.mark.parametrize("name", TENSORS)
@pytest.mark.parametrize("backend", ["cpu", "interpreter"])
def test_values(name: str, backend: str) -> None:
    dtype, make, wanted = TENSORS[name]
    tensor = make(torch.from_numpy(BASE.copy()))
    before = tensor.detach().clone()
    found = xe.compile(double(dtype), backend=backend)(tensor)
    np.testing.assert_array_equal(found.astype(wanted.dtype), wanted)
    assert torch.equal(
        tensor.detach().float() if dtype != "c64" else tensor,
        before.float() if dtype != "c64" else before,
    )
    np.testing.assert_array_equal(
        np.asarray(xe.evaluate(double(dtype), tensor)).astype(wanted.dtype), wanted
    )


def test_in_a_child_process_and_back() -> None:
    session = xe.compile(double("bf16"), isolate=True)
    np.testing.assert_array_equal(
        session(torch.from_numpy(BASE).bfloat16()).astype(np.float32), 2 * BASE
    )
    assert torch.equal(
        torch.from_numpy(xe.compile(double("f32"))(torch.from_numpy(BASE))),
        torch.from_numpy(2 * BASE),
    )


@pytest.mark.parametrize(
    "make",
    [lambda t: t.to_sparse(), lambda t: t.to("meta"), lambda t: t.double(), lambda t: t[:4]],
    ids=["sparse", "meta", "double", "short"],
)
def test_what_cannot_be_read_is_an_argument_error(make: Any) -> None:
    with pytest.raises(xe.XlaExplorerError, match="parameter 0"):
        xe.compile(double("f32"))(make(torch.from_numpy(BASE)))
