"""A sweep on a Dask cluster of two worker processes gives the frame that this process gives."""

from __future__ import annotations

import os
from typing import Any

import pytest

import xla_explorer as xe

distributed: Any = pytest.importorskip(
    "dask.distributed", reason='needs the extra `sweep`: pip install "xla-explorer[sweep]"'
)
STEADY = [
    "module",
    "option",
    "backend",
    "status",
    "instructions",
    "kernels",
    "flops",
    "bytes",
    "key",
]


def text(number: int) -> str:
    return f"HloModule m{number}\nENTRY e {{\n  x = f32[{8 + number}] parameter(0)\n  y = f32[{8 + number}] tanh(x)\n  ROOT r = f32[{8 + number}] multiply(y, x)\n}}"


def test_two_workers_and_a_module_that_is_not_well_formed() -> None:
    beyond = "HloModule bad\nENTRY e {\n  a = f32[8] parameter(0)\n  ROOT s = f32[4000000] slice(a), slice={[100000000:104000000]}\n}"
    modules, options = (
        [*[text(k) for k in range(4)], beyond],
        [{"passes": "default"}, {"passes": "none"}],
    )
    serial = xe.sweep(modules, options, repeats=1)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        parallel = xe.sweep(modules, options, executor=client, repeats=1)
        crash = xe.sweep([text(1)], [{"isolate": True, "timeout": 60}], executor=client, repeats=0)
    assert (
        serial[STEADY].equals(parallel[STEADY])
        and list(parallel["status"]) == ["ok"] * 8 + ["failed"] * 2
    )
    assert os.getpid() not in set(parallel["process"]) and len(set(parallel["process"])) == 2
    assert list(crash["status"]) == ["ok"]
