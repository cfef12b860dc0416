"""Runs of partitioned programs on virtual devices, beside the evaluation of the whole program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.support.devices_in_step import evaluate_in_step
from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.spmd.partitioning.spmd_partitioning import SpmdPartitioning
from xla_explorer.hlo.attributes.sharding import Sharding
from xla_explorer.hlo.evaluator.evaluator import Evaluator
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.shape import Shape
from xla_explorer.hlo.text.parser import parse_hlo
from xla_explorer.hlo.verifier import verify


def partitioned(text: str, count: int, policy: str = "cost") -> HloModule:
    """Return the verified program of one device."""
    return partitioned_module(parse_hlo(text), count, policy)


def partitioned_module(module: HloModule, count: int, policy: str = "cost") -> HloModule:
    """Turn a module into the program of one device, verify and return it."""
    SpmdPartitioning(count, policy).run(module, PassContext())
    verify(module)
    return module


def shardings_of(text: str | None, shape: Shape) -> list[Sharding]:
    """Return the sharding of each leaf; leaves without one are whole."""
    leaves = [leaf for _, leaf in shape.leaves()]
    found = Sharding.read_all(text) if text else []
    return found if len(found) == len(leaves) else [found[0] if found else Sharding()] * len(leaves)


def poison(dtype: np.dtype[Any]) -> Any:
    """Return a value that shows in every result: NaN, or an extreme integer."""
    if dtype.kind in "fcV":
        return np.nan
    return True if dtype.kind == "b" else np.iinfo(dtype).max // 3


def part_of(array: np.ndarray[Any, Any], sharding: Sharding, device: int) -> np.ndarray[Any, Any]:
    """Return a device's part, padded with poison to the size of a full tile."""
    own = array[sharding.part(array.shape, device)]
    if sharding.kind != "tiled":
        return np.array(own)
    sizes = [-(-n // t) for n, t in zip(array.shape, sharding.tiles, strict=False)]
    padded = np.full(sizes, poison(array.dtype), dtype=array.dtype)
    padded[tuple([slice(0, n) for n in own.shape])] = own
    return padded


def leaves_of(result: Any) -> list[np.ndarray[Any, Any]]:
    """Return the arrays of a result, depth first."""
    if isinstance(result, (tuple, list)):
        return [leaf for part in result for leaf in leaves_of(part)]
    return [np.asarray(result)]


def compare(
    text: str, count: int, arguments: Sequence[np.ndarray[Any, Any]], policy: str = "cost"
) -> HloModule:
    """Assert that every device has its part of the whole program's results; return the program."""
    return compare_module(parse_hlo(text), count, arguments, policy)


def compare_module(
    whole: HloModule, count: int, arguments: Sequence[np.ndarray[Any, Any]], policy: str = "cost"
) -> HloModule:
    """Assert that every device has its part of a module's results; return the device's program.

    The given module becomes the program of one device.
    """
    wanted = leaves_of(Evaluator().evaluate_computation(whole.entry, arguments))
    given = [
        shardings_of(x.attributes.get("sharding"), x.shape)[0] for x in whole.entry.parameters()
    ]
    root = whole.entry.root
    results = shardings_of(root.attributes.get("sharding"), root.shape)
    module = partitioned_module(whole, count, policy)
    per_device = [
        [part_of(a, s, d) for a, s in zip(arguments, given, strict=True)] for d in range(count)
    ]
    found = evaluate_in_step(module, per_device, count)
    for device in range(count):
        for have, want, sharding in zip(leaves_of(found[device]), wanted, results, strict=True):
            own = want[sharding.part(want.shape, device)]
            have = have[tuple([slice(0, n) for n in own.shape])]
            if not np.array_equal(have, own):
                _compare_arrays(have, own, f"device {device}, {policy}\n{module}")
    return module


def _compare_arrays(have: np.ndarray[Any, Any], own: np.ndarray[Any, Any], message: str) -> None:
    if own.dtype.kind in "fc":
        np.testing.assert_allclose(have, own, 1e-4, 1e-4, err_msg=message)
    else:
        np.testing.assert_array_equal(have, own, err_msg=message)
