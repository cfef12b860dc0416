"""Runs HLO modules on real XLA:CPU in a child process, since XLA may abort.

Usage: `python xla_runner.py CASES RESULTS`. CASES is a pickled list of (HLO text, arrays). RESULTS
becomes a sequence of pickled ("values", arrays) or ("refused", message), written case by case.
"""

import os
import pickle
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
# Without these XLA may divide by multiplying with reciprocals and drop infinities, which the
# meaning of HLO does not allow.
os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_enable_fast_math=false --xla_allow_excess_precision=false"
)


def main(cases: str, results: str) -> None:
    """Compile and run each case; results are written at once, so an abort loses one case."""
    import jax
    import numpy as np
    from jaxlib import _hlo, _jax
    from jaxlib import xla_client as xc

    jax.config.update("jax_enable_x64", True)
    device = jax.devices("cpu")[0]
    with open(cases, "rb") as source, open(results, "wb") as target:
        for text, arrays in pickle.load(source):
            try:
                proto = _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
                executable = device.client.compile_and_load(
                    _jax.mlir.hlo_to_stablehlo(proto),
                    _jax.DeviceList((device,)),
                    xc.CompileOptions(),
                )
                outputs = executable.execute([jax.device_put(a, device) for a in arrays])
                row = ("values", [np.asarray(o) for o in outputs])
            except Exception as problem:  # XLA's message is the result
                row = ("refused", f"{type(problem).__name__}: {problem}")
            pickle.dump(row, target)
            target.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
