"""Why a second call compiles again."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe


def test_each_kind_of_change_has_its_place() -> None:
    params = {"w": np.ones((4, 5), np.float32), "b": np.ones(5, np.float32)}
    other = {"w": np.ones((4, 6), np.float32), "b": np.ones(5, np.float64)}
    found = xe.compare.signatures((params, 1.0), (other, np.float32(1)))
    rows = {(c.place, c.what): (c.first, c.second) for c in found.changes}
    assert rows["args[0]['w']", "shape"] == ("(4, 5)", "(4, 6)")
    assert rows["args[0]['b']", "element type"] == ("float32", "float64")
    assert rows["args[1]", "weak type"] == ("True", "False"), (
        "a Python number is weakly typed, a numpy scalar is not"
    )
    assert "args[0]['w']" in str(found) and len(found.to_frame()) == len(found.changes)


def test_values_count_for_static_arguments_only() -> None:
    assert not xe.compare.signatures((np.zeros(3), 2), (np.ones(3), 5))
    (change,) = xe.compare.signatures((np.zeros(3), 2), (np.ones(3), 5), static=(1,)).changes
    assert change == ("args[1]", "value", "2", "5")
    (change,) = xe.compare.signatures(((), {"n": 2}), ((), {"n": 3}), static=("n",)).changes
    assert change.place == "n"


def test_structure() -> None:
    found = xe.compare.signatures(([np.zeros(2)],), ([np.zeros(2), np.zeros(2)],))
    assert [(c.place, c.what, c.first) for c in found.changes] == [
        ("args[0][1]", "structure", "absent")
    ]
    assert "no compile is needed" in str(xe.compare.signatures({"x": 1}, {"x": 2}))


@pytest.mark.jax
@pytest.mark.parametrize("whole", [False, True], ids=["one leaf", "all leaves"])
def test_a_committed_argument_is_named_with_its_device(whole: bool) -> None:
    jax = pytest.importorskip("jax")
    device = jax.devices("cpu")[0]

    def arguments(place: object) -> dict[str, object]:
        put = jax.device_put(np.ones(3, np.float32), place)
        return {"a": put if whole else jax.numpy.ones(3), "b": put}

    free = {"a": jax.numpy.ones(3), "b": jax.numpy.ones(3)}
    for place in (device, jax.sharding.SingleDeviceSharding(device)):
        rows = [
            (c.place, c.what, c.first, c.second)
            for c in xe.compare.signatures((free,), (arguments(place),)).changes
        ]
        named = ["args[0]['a']", "args[0]['b']"] if whole else ["args[0]['b']"]
        assert rows == [(name, "device", "not committed", "committed to cpu:0") for name in named]


@pytest.mark.jax
def test_arrays_that_are_not_committed_are_like_those_of_numpy() -> None:
    jax = pytest.importorskip("jax")
    assert not xe.compare.signatures((jax.numpy.ones(3, np.float32),), (np.ones(3, np.float32),))
