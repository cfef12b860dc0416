"""The sharded programs of JAX: the values of every device, and the bytes sent beside XLA's."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.corpora import SHARED
from tests.support.sharded_runs import leaves_of, part_of, partitioned
from xla_explorer.hlo.attributes.sharding import Sharding
from xla_explorer.hlo.evaluator import evaluate_replicated

PROGRAMS = SHARED / "spmd" / "programs"
RECORDS = sorted(PROGRAMS.glob("*.json.gz"))
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not RECORDS, reason=f"{PROGRAMS} is absent"),
]


def _record(path: Path) -> tuple[dict[str, Any], Any]:
    record: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return record, np.load(path.parent / f"{record['name']}.npz")


@pytest.mark.parametrize("policy", ["cost", "xla"])
@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.name.removesuffix(".json.gz"))
def test_every_device_has_its_part_of_the_right_result(path: Path, policy: str) -> None:
    record, arrays = _record(path)
    module = partitioned(record["hlo_before_spmd"], 8, policy)
    shardings = [Sharding.read(text) for text in record["input_shardings"]]
    given = [
        [
            part_of(arrays[f"in{k}"], sharding, device)
            for k, sharding in zip(record["kept_inputs"], shardings, strict=True)
        ]
        for device in range(8)
    ]
    found = evaluate_replicated(module, given, partitions=8, replicas=1)
    for device in range(8):
        number = record["mesh"]["device_ids"][device]
        for k, have in enumerate(leaves_of(found[device])):
            whole = arrays[f"right{k}" if f"right{k}" in arrays else f"out{k}"]
            index = record["outputs_per_device"][number][k]["index"]
            want = whole[tuple([slice(a, b) for a, b in index])]
            if want.dtype.kind in "fc":
                np.testing.assert_allclose(have, want, 2e-3, 1e-3)
            else:
                np.testing.assert_array_equal(have, want)
