"""Child process: partition a program by XLA:CPU for N virtual devices, and print each stage.

Reads a request from standard input and writes an answer to standard output, both JSON.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

_PASSES = "shardy-xla|sharding-propagation|spmd-partitioning"


def main() -> None:
    """Answer one request: `text` (HLO), `devices`, `shardy`."""
    request = json.load(sys.stdin)
    with tempfile.TemporaryDirectory() as folder:
        # XLA reads its flags with the import of jaxlib.
        os.environ["XLA_FLAGS"] = (
            f"--xla_force_host_platform_device_count={request['devices']} --xla_dump_to={folder}"
            f" --xla_dump_hlo_as_text --xla_dump_hlo_pass_re={_PASSES}"
        )
        optimized, version = _compiled(request)
        dumps = sorted(Path(folder).glob("*spmd-partitioning*.txt"))
        answer = {
            "version": version,
            "propagated": _named(dumps, "before_spmd-partitioning"),
            "partitioned": _named(dumps, "after_spmd-partitioning"),
            "optimized": optimized,
        }
    json.dump(answer, sys.stdout)


def _named(dumps: list[Path], part: str) -> str:
    return next((path.read_text() for path in dumps if part in path.name), "")


def _compiled(request: dict[str, Any]) -> tuple[str, str]:
    """Compile by XLA; return the optimized text, and jaxlib's version."""
    import jax
    import jaxlib
    import numpy as np
    from jaxlib import _hlo, xla_client

    module = _hlo.hlo_module_from_text(request["text"])
    computation = xla_client.XlaComputation(module.as_serialized_hlo_module_proto())
    program = xla_client._xla.mlir.xla_computation_to_mlir_module(computation)
    count, options = request["devices"], xla_client.CompileOptions()
    options.num_replicas, options.num_partitions = 1, count
    build = options.executable_build_options
    build.num_replicas, build.num_partitions = 1, count
    build.use_spmd_partitioning = True
    build.use_shardy_partitioner = request["shardy"]
    order = np.arange(count).reshape(1, count)
    build.device_assignment = xla_client.DeviceAssignment.create(order)
    devices = tuple(jax.devices()[:count])
    client = devices[0].client
    made = client.compile_and_load(program, xla_client.DeviceList(devices), options)
    return made.hlo_modules()[0].to_string(), str(jaxlib.__version__)


if __name__ == "__main__":
    main()
