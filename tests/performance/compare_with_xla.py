"""Ten programs on our CPU backend and real XLA: `compare_with_xla.py [OUT.md]` (needs jax).

Kernels, fused edges, traffic (our cost analysis for both), this compile's time, and run times
measured in turns in one process each.
"""

from __future__ import annotations

import sys
from pathlib import Path

WORKLOADS = Path(__file__).resolve().parents[3] / "shared" / "perf" / "dev" / "workloads"
TEN = (
    "m_softmax_4096x1000",
    "m_layernorm_2048x768",
    "m_gelu_tanh_1e6",
    "m_dot_bias_relu_512",
    "m_cumsum_rows_512x4096",
    "b_attention_h8_s256_d64",
    "b_mlp_train_b128_784_512_10",
    "b_lstm_t64_b16_d128",
    "b_jacobi_512_it100",
    "b_cnn_mnist_train_b32",
)
HEAD = """# Ten programs on our CPU backend and on real XLA

The table shows `xe.compare.programs` for ten workloads of the performance suite, one thread each.
`python tests/performance/compare_with_xla.py` writes it. Kernels and MB are counted for each
compiler's own result by the same cost analysis. An edge is fused if producer and consumer are in
one kernel. A library fusion of XLA counts as one kernel. Run times were measured in turns, XLA's
inside its own process without transfers.

"""

TAIL = """
b_lstm with standard normal weights is chaotic: rounding alone determines its values, and both
compilers differ from the evaluator, XLA more. With the inputs of the performance suite both agree.
"""

if __name__ == "__main__":
    import xla_explorer as xe

    xe.warm_up("cpu")
    table = xe.compare.programs(
        {name: WORKLOADS / f"{name}.hlo" for name in TEN}, repeats=30, threads=1
    )
    print(table)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(HEAD + table.to_markdown() + "\n" + TAIL)
