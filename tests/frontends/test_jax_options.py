"""`xe.jit` takes what `jax.jit` takes: one word changes in a program."""

from __future__ import annotations

import pytest

import xla_explorer as xe
from xla_explorer.explorer.jax_functions import JitError

jax = pytest.importorskip("jax")


def test_options_of_jax_jit() -> None:
    one = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    for options in (
        {"donate_argnums": 0}, {"donate_argnums": (0, 1)}, {"donate_argnames": ("x",)}, {"keep_unused": True}, {"inline": True},
        {"out_shardings": one}, {"in_shardings": (one, None)}, {"in_shardings": None, "out_shardings": None}, {"device": jax.devices()[0]},
    ):  # fmt: skip
        add = xe.jit(lambda x, y: x + y, **options)
        assert float(add(jax.numpy.float32(1), jax.numpy.float32(2))) == 3


class TwoDevices:
    device_set = frozenset({1, 2})


@pytest.mark.parametrize(
    "options",
    [
        {"out_shardings": {"a": TwoDevices()}},
        {"in_shardings": (None, TwoDevices())},
        {"compiler_options": {"a": 1}},
    ],
)
def test_options_that_one_device_cannot_serve(options: dict[str, object]) -> None:
    with pytest.raises(JitError, match=next(iter(options))):
        xe.jit(lambda x: x, **options)


def test_unknown_options_are_still_unknown() -> None:
    with pytest.raises(xe.XlaExplorerError, match="donat"):
        xe.jit(lambda x: x, donat=1)(jax.numpy.float32(1))
