"""Outputs of two commits on the CPU, compared to the bit.

    python tests/conformance/bits_beside.py BEFORE AFTER [--corpus exec_cases|conformance|perf]
        [--every N] [--report rows.jsonl]

Every difference must be of a program whose decisions record `reorders-sum`. BEFORE and AFTER are
checkouts, or folders in which a wheel was unpacked. Each compiles in its own process, for one
thread. The table counts the programs, the equal ones, and those whose sums have another order. It
counts those that record `contracts-products` and differ by no more than that explains: HLO leaves
open which product of `a*b + c*d` is rounded. It counts those that another open rounding explains
(`tests/properties/value_classes.py`), and the rest; then arenas and objects.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import math
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

sys.path.append(
    str(Path(__file__).resolve().parents[2])
)  # behind the checkout that PYTHONPATH names

from tests.support.corpora import SHARED


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _exec_cases() -> Iterator[tuple[str, str, list[Any]]]:
    generator = _module(SHARED / "xla_corpus" / "gen_inputs.py")
    with gzip.open(SHARED / "xla_corpus" / "dev" / "exec_cases.jsonl.gz", "rt") as lines:
        for case in map(json.loads, lines):
            yield case["name"], case["hlo"], list(generator.inputs(case))


def _conformance() -> Iterator[tuple[str, str, list[Any]]]:
    runner = _module(SHARED / "conformance" / "conformance.py")
    for case in runner.load_cases(str(SHARED / "conformance" / "dev")):
        yield case.name, case.hlo, list(case.inputs)


def _perf() -> Iterator[tuple[str, str, list[Any]]]:
    harness = _module(SHARED / "perf" / "perf.py")
    folder = SHARED / "perf" / "dev"
    for row in json.loads((folder / "workloads.json").read_text())["workloads"]:
        if not row["name"].startswith("c_"):  # those are large, for the time of compiling
            yield (
                row["name"],
                harness.load_text(str(folder), row),
                list(harness.make_inputs(row["inputs"])),
            )


CORPORA = {"exec_cases": _exec_cases, "conformance": _conformance, "perf": _perf}


def serve() -> None:
    """Run the child: (text, arguments) in, the outcome out."""
    import warnings

    import xla_explorer as xe

    warnings.simplefilter("ignore")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        try:
            text, inputs = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        answer: dict[str, Any] = {}
        try:
            session = xe.compile(text, cache=False, threads=1)
            answer["outputs"] = [np.array(leaf) for leaf in session.run_flat(inputs)]
            executable: Any = session.executable
            decisions = [facts for facts in session.decisions()["facts"] if isinstance(facts, dict)]
            answer["reorders"] = any("reorders-sum" in facts for facts in decisions)
            answer["contracts"] = sum(facts.get("contracts-products", 0) for facts in decisions)
            answer["arena"] = executable.assignment.arena_size
            answer["object"] = sum(map(len, executable.compiled.objects))
        except Exception as problem:
            answer["problem"] = f"{type(problem).__name__}: {str(problem)[:200]}"
        pickle.dump(answer, answers)
        answers.flush()


class Tree:
    """A process of one commit."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-P", str(Path(__file__).resolve()), "serve"]
        environment = {**os.environ, "PYTHONPATH": str(self.folder)}
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )

    def give(self, question: Any) -> None:
        assert self.process.stdin is not None
        pickle.dump(question, self.process.stdin)
        self.process.stdin.flush()

    def take(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        try:
            return dict(pickle.load(self.process.stdout))
        except (EOFError, pickle.UnpicklingError):
            self.start()
            return {"problem": "the process ended"}


def same_bits(one: list[Any], other: list[Any]) -> bool:
    """Of any NaN one is as good as another."""

    def bits(array: Any) -> Any:
        plain = np.ascontiguousarray(array)
        found = (
            plain.view(np.uint8).reshape(*plain.shape, plain.itemsize)
            if plain.ndim
            else np.frombuffer(plain.tobytes(), np.uint8)[None]
        )
        nan = (plain != plain) if plain.dtype.kind not in "OSU" else np.zeros(plain.shape, bool)
        return np.where(np.asarray(nan)[..., None] if plain.ndim else nan, np.uint8(255), found)

    return len(one) == len(other) and all(
        a.shape == b.shape and a.dtype == b.dtype and np.array_equal(bits(a), bits(b))
        for a, b in zip(one, other, strict=True)
    )


def rounding_explains(text: str, inputs: list[Any], after: dict[str, Any]) -> bool:
    """Return True if roundings that HLO leaves open move the evaluator's value as far as AFTER."""
    import xla_explorer as xe
    from tests.properties.noisy_evaluator import ReferenceTooLongError, reference
    from tests.properties.value_classes import explain
    from xla_explorer.hlo.evaluator import EvaluationError

    module = xe.compile(text, threads=1).module
    try:
        found = explain(
            module,
            inputs,
            reference(module, inputs),
            after["outputs"],
            hostile=False,
            loose=True,
            seconds=20,
        )
    except (ReferenceTooLongError, EvaluationError):  # too slow or too large for the evaluator
        return False
    return found is not None


def contractions_explain(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Return True if contracted sums explain the difference.

    Kernels must record such sums, and no element may differ by more than ten such roundings of the
    largest.
    """
    contracted = max(before["contracts"], after["contracts"])
    if not contracted:
        return False
    for one, other in zip(before["outputs"], after["outputs"], strict=True):
        if same_bits([one], [other]):
            continue
        if (
            one.shape != other.shape
            or one.dtype.kind not in "fc"
            or not (np.isfinite(one) == np.isfinite(other)).all()
        ):
            return False
        finite = np.isfinite(one)
        a, b = one[finite].astype(np.complex128), other[finite].astype(np.complex128)
        if (
            np.abs(a - b)
            > 10 * contracted * float(np.finfo(one.dtype).eps) * np.abs(a).max(initial=0)
        ).any():
            return False
    return True


def verdict(before: dict[str, Any], after: dict[str, Any], text: str, inputs: list[Any]) -> str:
    """Return the class of one program in the table."""
    if "problem" in before or "problem" in after:
        return "neither runs" if "problem" in before and "problem" in after else "one alone runs"
    if same_bits(before["outputs"], after["outputs"]):
        return "equal"
    if after["reorders"] or before["reorders"]:
        return "reorders-sum"
    if contractions_explain(before, after):
        return "contracts-products"
    return "rounding" if rounding_explains(text, inputs, after) else "DIFFERS"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--corpus", choices=CORPORA, action="append")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--report", type=Path)
    options = parser.parse_args()
    trees = Tree(options.before), Tree(options.after)
    left = 0
    for corpus in options.corpus or CORPORA:
        rows = []
        for number, (name, text, inputs) in enumerate(CORPORA[corpus]()):
            if number % options.every:
                continue
            for tree in trees:
                tree.give((text, inputs))
            before, after = (tree.take() for tree in trees)
            row = {"corpus": corpus, "name": name, "verdict": verdict(before, after, text, inputs)}
            for size in ("arena", "object"):
                if size in before and size in after:
                    row[size] = [before[size], after[size]]
            row["problems"] = [answer.get("problem", "") for answer in (before, after)]
            rows.append(row)
            if options.report:
                with open(options.report, "a") as file:
                    file.write(json.dumps(row) + "\n")
        left += _print(corpus, rows)
    return int(left > 0)


def _print(corpus: str, rows: list[dict[str, Any]]) -> int:
    counts = {
        kind: sum(row["verdict"] == kind for row in rows)
        for kind in dict.fromkeys(row["verdict"] for row in rows)
    }
    print(
        f"{corpus}: {len(rows)} programs; {', '.join(f'{count} {kind}' for kind, count in counts.items())}"
    )
    for size in ("arena", "object"):
        pairs = [row[size] for row in rows if size in row and row[size][0] > 0 and row[size][1] > 0]
        if pairs:
            mean = math.exp(sum(math.log(b / a) for a, b in pairs) / len(pairs))
            whole = sum(b for _, b in pairs) / sum(a for a, _ in pairs)
            print(
                f"  {size}: {mean:.3f} (geometric mean), {whole:.3f} of all bytes; above 1.02: {sum(b > 1.02 * a for a, b in pairs)} of {len(pairs)}"
            )
    wrong = [row["name"] for row in rows if row["verdict"] in ("DIFFERS", "one alone runs")]
    print("".join(f"  {name}\n" for name in wrong), end="", flush=True)
    return len(wrong)


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["serve"] else sys.exit(main())
