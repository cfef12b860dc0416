"""Runs one pass of XLA:CPU on HLO texts in a child process, and returns its records.

    python xla_pass.py PASS CASES RESULTS

CASES is a pickled list of HLO texts. RESULTS becomes a sequence of pickled answers, one a case: a
list of `Record`s as tuples, or the message of XLA's refusal. XLA's pipeline runs with every other
pass disabled; its dumps have the module before and after the pass.
"""

from __future__ import annotations

import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

# The pipeline of jaxlib 0.10.2 and 0.12: what is disabled so that a pass gets the module itself.
PIPELINE = [
    "algsimp",
    "all-reduce-promotion",
    "all_to_all_decomposer",
    "apply-xla-transforms",
    "associative-scan-rewriter",
    "batch-dot-simplification",
    "batched_gather_scatter_normalizer",
    "batchnorm_expander",
    "bitcast_dtypes_expander",
    "broadcast_canonicalizer",
    "call-inliner",
    "change-op-data-type",
    "cholesky_expander",
    "comparison-expander",
    "conditional-canonicalizer",
    "conditional-to-select",
    "constant_folding",
    "control-dep-rewriter",
    "convolution-canonicalization",
    "convolution-group-converter",
    "copy-insertion",
    "cpu-all-reduce-combiner",
    "cpu-parallel-task-assigner",
    "cse",
    "cse_barrier_expander",
    "dce",
    "dot-library-rewriter",
    "dot_decomposer",
    "dynamic-dimension-simplifier",
    "dynamic-index-splitter",
    "dynamic_padder",
    "eigh_expander",
    "flatten-call-graph",
    "float-normalization-bf16",
    "float-normalization-f4e2m1fn",
    "float-normalization-f8e3m4",
    "float-normalization-f8e4m3",
    "float-normalization-f8e4m3b11fnuz",
    "float-normalization-f8e4m3fn",
    "float-normalization-f8e4m3fnuz",
    "float-normalization-f8e5m2",
    "float-normalization-f8e5m2fnuz",
    "float-normalization-f8e8m0fnu",
    "float-normalization-s4",
    "float-normalization-u4",
    "fusion",
    "fusion-wrapper",
    "gather_expander",
    "gather_simplifier",
    "gemv-rewriter",
    "layout-assignment",
    "literal-canonicalizer",
    "logistic-expander",
    "map-inline",
    "operand_upcaster",
    "optimize_input_output_buffer_alias",
    "propagate-call-metadata",
    "qr_expander",
    "reduce-decomposer",
    "reduce-window-resizer",
    "reduce-window-rewriter",
    "reshape-decomposer",
    "reshape-mover",
    "result_caster",
    "rng-bit-generator-expander",
    "rng-expander",
    "scan_expander",
    "scatter_expander",
    "scatter_simplifier",
    "select_and_scatter_expander",
    "shape-canonicalizer",
    "sharding-remover",
    "simplify-conditional",
    "simplify-sorts",
    "simplify-while-loops",
    "small-while-loop-hoisting",
    "stochastic_convert_decomposer",
    "sub-byte-size-setter",
    "topk-decomposer",
    "topk-rewriter",
    "transpose-folding",
    "tree_reduction_rewriter",
    "triangular_solve_expander",
    "tuple-simplifier",
    "while-loop-constant-sinking",
    "while-loop-invariant-code-motion",
    "while-loop-trip-count-annotator",
    "zero_sized_hlo_elimination",
]
STOP = '%s = f32[] custom-call(), custom_call_target="%s", custom_call_has_side_effect=true'
STOPPING = "stops-before-code-generation"
"""The target of a call that XLA:CPU cannot emit: the passes run, LLVM does not."""
MAIN = "HLO_passes_through_layout_assignment"
_DUMP = re.compile(r"module_\d+\..*\.(\d{4})\.([^.]*)\.after_(.*)\.before_(.*)\.txt")


class Record(NamedTuple):
    """One run of a pass; after: None if it changed nothing."""

    pipeline: str
    before: str
    after: str | None


def stopped(text: str) -> str:
    """Return the text with a call in its entry that ends XLA's compile after the passes."""
    at = text.index("\n", text.index("ENTRY ")) + 1
    return text[:at] + "  " + STOP % ("%stop", STOPPING) + "\n" + text[at:]


def read_records(folder: Path, name: str) -> list[tuple[str, str, str | None]]:
    """Return the runs of a pass in the dumps of one compile, which are removed."""
    steps = []
    for path in folder.iterdir():
        found = _DUMP.fullmatch(path.name)
        if found is not None:
            steps.append((*found.groups(), path.read_text()))
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    steps.sort()
    runs: list[tuple[str, str, str | None]] = []
    for number, (_, pipeline, last, following, text) in enumerate(steps):
        if last == name and number:
            runs.append((pipeline, steps[number - 1][4], text))
        changed = number + 1 < len(steps) and steps[number + 1][2] == name
        if following == name and not changed:
            runs.append((pipeline, text, None))
    # A pass behind others of its pipeline that changed nothing has no dump.
    starts = [step for step in steps if step[1] == MAIN]
    if not runs and starts:
        runs.append((MAIN, starts[0][4], None))
    return runs


def main(name: str, cases: str, results: str) -> None:
    """Compile each case; answers are written at once, so an abort loses one case."""
    folder = Path(tempfile.mkdtemp(prefix="xla-pass-"))
    disabled = ",".join([other for other in PIPELINE if other != name])
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["XLA_FLAGS"] = (
        f"--xla_dump_to={folder} --xla_dump_hlo_as_text --xla_dump_hlo_pass_re=.* "
        f"--xla_disable_hlo_passes={disabled}"
    )
    import jax
    from jaxlib import _hlo, _jax
    from jaxlib import xla_client as xc

    device = jax.devices("cpu")[0]
    devices = _jax.DeviceList((device,))
    with open(cases, "rb") as source, open(results, "wb") as target:
        for text in pickle.load(source):
            answer: object = ""
            try:
                proto = _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
                program = _jax.mlir.hlo_to_stablehlo(proto)
                device.client.compile_and_load(program, devices, xc.CompileOptions())
            except Exception as problem:  # XLA's message is the answer without records
                answer = f"{type(problem).__name__}: {problem}"[:300]
            runs = read_records(folder, name)
            if STOPPING not in str(answer):
                # The pass may be what failed: without a result it is not known to change nothing.
                runs = [run for run in runs if run[2] is not None]
            pickle.dump(runs or answer, target)
            target.flush()
    folder.rmdir()


def run_xla_pass(name: str, texts: Sequence[str]) -> list[list[Record] | str]:
    """Return the records of a pass for each text, or why there is none. An abort is an answer."""
    answers: list[list[Record] | str] = []
    with tempfile.TemporaryDirectory(prefix="xla-pass-") as folder:
        cases, results = Path(folder, "cases"), Path(folder, "results")
        while len(answers) < len(texts):
            cases.write_bytes(pickle.dumps(list(texts[len(answers) :])))
            results.write_bytes(b"")
            command = [sys.executable, __file__, name, str(cases), str(results)]
            done = subprocess.run(
                command, capture_output=True, text=True, check=False,
                env={**os.environ, "TMPDIR": folder},
            )  # fmt: skip
            with open(results, "rb") as source:
                while source.peek(1):
                    found = pickle.load(source)
                    answers.append(
                        found if isinstance(found, str) else [Record(*one) for one in found]
                    )
            if len(answers) < len(texts) and done.returncode:
                if "Traceback" in done.stderr:  # not XLA's abort: an error of this script
                    raise RuntimeError(done.stderr[-500:])
                answers.append(f"XLA aborted: {done.stderr[-200:]}")
    return answers


if __name__ == "__main__":
    main(*sys.argv[1:4])
