"""`cpu` as one device: it compiles modules of several, with collectives on the evaluator.

The error at run time names the call to use instead.
"""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.backends.aot.errors import AheadOfTimeError
from xla_explorer.hlo.evaluator import evaluate_replicated

TEXT = """HloModule m, replica_count=2
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] multiply(x, x)
  ROOT r = f32[4] all-reduce(y), replica_groups={{0,1}}, to_apply=sum
}"""
X = np.arange(4, dtype=np.float32)


@pytest.mark.usefixtures("runs_here")  # else the run is refused for another reason
def test_collectives_of_two_devices_compile_and_do_not_run() -> None:
    session = xe.compile(TEXT)
    assert session.module.entry.root.opcode.name == "all-reduce"
    with pytest.raises(
        xe.XlaExplorerError, match="works in groups of 2 devices; this evaluation has one"
    ) as caught:
        session(X)
    assert "evaluate_replicated" in str(caught.value)


def test_the_optimised_module_has_its_values_on_virtual_devices() -> None:
    found = evaluate_replicated(xe.compile(TEXT).module, [[X], [X + 1]])
    assert len(found) == 2
    for of_one_device in found:
        np.testing.assert_array_equal(of_one_device, X * X + (X + 1) * (X + 1))


def test_an_object_file_for_one_device_is_refused() -> None:
    with pytest.raises(AheadOfTimeError, match="2 replicas of 1 partitions"):
        xe.aot(TEXT)


COLLECTIVES = {
    "all-reduce": "ROOT r = f32[4] all-reduce(x), replica_groups={}, to_apply=sum",
    "all-gather": "ROOT r = f32[8] all-gather(x), replica_groups={}, dimensions={0}",
    "all-to-all": "ROOT r = f32[4] all-to-all(x), replica_groups={}, dimensions={0}",
    "start": "s = f32[4] all-reduce-start(x), replica_groups={}, to_apply=sum\n  ROOT r = f32[4] all-reduce-done(s)",
}


@pytest.mark.usefixtures("runs_here")
@pytest.mark.parametrize("count", ["replica_count=2", "num_partitions=2"])
@pytest.mark.parametrize("body", COLLECTIVES.values(), ids=COLLECTIVES)
def test_no_groups_means_all_devices_that_the_module_has(body: str, count: str) -> None:
    if count == "num_partitions=2":
        body = body.replace("replica_groups={}", "channel_id=1, replica_groups={}")
    text = (
        TEXT.split("ENTRY")[0].replace("replica_count=2", count)
        + "ENTRY e {\n  x = f32[4] parameter(0)\n  "
        + body
        + "\n}"
    )
    for run in (xe.evaluate, lambda module, *arrays: xe.compile(module)(*arrays)):
        with pytest.raises(
            xe.XlaExplorerError, match="works in groups of 2 devices; this evaluation has one"
        ):
            run(text, X)
