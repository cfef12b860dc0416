"""The executable corpus beside the checkout on the evaluator: cases, runs, verdicts.

    python tests/conformance/executable_corpus.py exec_cases --jobs 2 [--filter REGEX] [--report
        failures.json]

Real XLA:CPU's outputs are the reference. `executable_differences.json` names every case that
differs, by class and with the reason; the tests hold the evaluator to exactly that list.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import importlib.util
import json
import multiprocessing
import re
import signal
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from tests.support.corpora import SHARED
from xla_explorer.hlo.evaluator import evaluate, evaluate_replicated, flatten_value
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.opcodes import OPCODES
from xla_explorer.hlo.primitive_type import PRIMITIVE_TYPES
from xla_explorer.hlo.text import parse_hlo

CORPUS = SHARED / "xla_corpus"
DIFFERENCES = Path(__file__).with_name("executable_differences.json")
TOLERANCE = {"f64": 1e-9, "c128": 1e-9, "f32": 2e-4, "c64": 2e-4, "f16": 2e-2, "bf16": 6e-2}
OTHER_FLOATS = 0.3  # of eight bits and fewer
SECONDS = 20  # of processor time
_WITH_GLOBAL_IDS = ("all-reduce", "all-gather", "reduce-scatter")


def cases(shard: str) -> Iterator[dict[str, Any]]:
    """Yield the cases of `exec_cases` or `exec_multi`.

    Where two texts have one name, the digest of the text is appended.
    """
    with gzip.open(CORPUS / "dev" / f"{shard}.jsonl.gz", "rt") as lines:
        taken: set[str] = set()
        for case in map(json.loads, lines):
            if case["name"] in taken:
                case["name"] += f" {case['sha'][:8]}"
            taken.add(case["name"])
            yield case


def known_differences(shard: str) -> dict[str, str]:
    """Class of difference by name of the case."""
    classes = json.loads(DIFFERENCES.read_text())[shard]
    return {name: label for label, entry in classes.items() for name in entry["cases"]}


@cache
def _generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gen_inputs", CORPUS / "gen_inputs.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def inputs_of(case: dict[str, Any], device: int | None = None) -> list[Any]:
    if device is None:
        return list(_generator().inputs(case))
    base = case["seed"] * 1000 + 100 * device
    return [
        _generator().leaf(v["dtype"], v["dims"], base + k, case["dist"])
        for k, v in enumerate(case["inputs"])
    ]


def _as_replicas(module: HloModule) -> None:
    """Return a module whose partitions became replicas, as when XLA:CPU ran the corpus."""
    for computation in module.computations.values():
        for i in computation.instructions.values():
            if i.opcode.name == "partition-id":
                i.opcode = OPCODES["replica-id"]
            changes: dict[str, Any] = {"channel_id": None}
            if (
                i.opcode.name.removesuffix("-start") in _WITH_GLOBAL_IDS
                and i.attributes.get("channel_id") is not None
            ):
                if not i.attributes.get("use_global_device_ids"):
                    changes["replica_groups"] = None  # cross-replica-and-partition: all devices
                changes["use_global_device_ids"] = None
            if i.attributes.get("channel_id") is not None:
                i.attributes = i.attributes.with_values(**changes)


def _nested(leaves: Iterator[Any], tree: Any) -> Any:
    """Return leaves nested as the parameter tree: [dtype, [dims]] is a leaf, others tuples."""
    if isinstance(tree, list) and len(tree) == 2 and isinstance(tree[0], str):
        return next(leaves)
    return tuple([_nested(leaves, part) for part in tree])


def module_of(case: dict[str, Any]) -> tuple[HloModule, int, int]:
    """Return the module of a case of several devices, its replicas and its partitions."""
    module = parse_hlo(case["hlo"])
    replicas, partitions = case["num_replicas"], case["num_partitions"]
    if any("was run as replica_count" in note for note in case["notes"]):
        _as_replicas(module)
        return module, replicas * partitions, 1
    return module, replicas, partitions


def outputs(case: dict[str, Any]) -> list[list[Any]]:
    """For each device the leaves of the entry's result."""
    if "outputs_per_device" not in case:
        module = parse_hlo(case["hlo"])
        leaves = iter(inputs_of(case))
        arguments = [_nested(leaves, tree) for tree in case["param_tree"]]
        return [flatten_value(evaluate(module, *arguments, as_xla_cpu=True))]
    module, replicas, partitions = module_of(case)
    per_device = [inputs_of(case, d) for d in range(replicas * partitions)]
    return [
        flatten_value(r)
        for r in evaluate_replicated(
            module, per_device, replicas=replicas, partitions=partitions, as_xla_cpu=True
        )
    ]


def _difference(actual: Any, leaf: dict[str, Any], bound: float | None) -> str | None:
    """Return the difference of an output from the recorded one, None if they agree."""
    dtype = PRIMITIVE_TYPES[leaf["dtype"]].dtype
    expected = np.frombuffer(
        base64.b64decode(leaf["raw"] if "raw" in leaf else leaf["sample"]), dtype
    )
    if actual.dtype != dtype or list(actual.shape) != leaf["dims"]:
        return f"{actual.dtype}{list(actual.shape)} instead of {leaf['dtype']}{leaf['dims']}"
    found = actual.reshape(-1)
    if "sample" in leaf:
        found = found[:: leaf["sample_stride"]][: len(expected)]
    if leaf["dtype"][0] not in "fbc":
        wrong = found != expected
    else:
        bound = max(bound or 0, TOLERANCE.get(leaf["dtype"], OTHER_FLOATS))
        a, b = found.astype(complex), expected.astype(complex)
        wrong = ~np.isclose(a, b, rtol=bound, atol=bound, equal_nan=True)
    if not wrong.any():
        return None
    first = int(np.flatnonzero(wrong)[0])
    return f"{int(wrong.sum())} of {wrong.size} elements, the first at {first}: {found[first]} instead of {expected[first]}"


def problem_of(
    case: dict[str, Any], run: Callable[[dict[str, Any]], list[list[Any]]] | None = None
) -> str | None:
    """Run and judge one case: None, or in a sentence what is wrong.

    run: the function that runs it, by default `outputs`.
    """
    stated = [
        float(n) for n in re.findall(r"\d[\d.]*(?:e-?\d+)?", case.get("test_error_spec") or "")
    ]
    bound = max(stated, default=None)
    try:
        results = (run or outputs)(case)
    except TimeoutError:
        return "too slow"
    except Exception as error:  # the runner reports whatever goes wrong
        return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    for device, (found, expected) in enumerate(
        zip(results, case.get("outputs_per_device") or [case["outputs"]], strict=True)
    ):
        if len(found) != len(expected):
            return f"{len(found)} outputs instead of {len(expected)}"
        for number, (a, leaf) in enumerate(zip(found, expected, strict=True)):
            if (difference := _difference(a, leaf, bound)) is not None:
                return f"device {device}, output {number}: {difference}"
    return None


def _timed(job: tuple[dict[str, Any], int]) -> tuple[str, str | None, float]:
    case, seconds = job

    def stop(*_: Any) -> None:
        raise TimeoutError

    # Processor time, so that a busy machine does not change the outcome.
    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    began = time.process_time()
    try:
        problem = problem_of(case)
    except TimeoutError:
        problem = "too slow"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return case["name"], problem, time.process_time() - began


def run_all(
    shard: str, jobs: int = 2, pattern: str = "", seconds: int = SECONDS
) -> tuple[int, dict[str, str]]:
    """Return (number of cases, problem by name of the case).

    jobs: processes. seconds: limit of one case.
    """
    chosen = [(case, seconds) for case in cases(shard) if re.search(pattern, case["name"])]
    problems: dict[str, str] = {}
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        for name, problem, spent in pool.imap_unordered(_timed, chosen, chunksize=8):
            if problem is not None:
                problems[name] = problem
            elif spent > seconds / 4:
                print(f"{spent:6.1f} s  {name}")
    return len(chosen), problems


def main() -> int:
    """Print every difference beside its class; exit code 1 when one is new or gone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shard", choices=("exec_cases", "exec_multi"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--filter", default="")
    parser.add_argument("--timeout", type=int, default=SECONDS)
    parser.add_argument("--report")
    options = parser.parse_args()
    count, problems = run_all(options.shard, options.jobs, options.filter, options.timeout)
    known = known_differences(options.shard) if DIFFERENCES.exists() else {}
    for name, problem in sorted(
        problems.items(), key=lambda item: (known.get(item[0], ""), item[0])
    ):
        print(f"[{known.get(name, 'NEW')}] {name}\n    {problem}")
    gone = [name for name in known if name not in problems and re.search(options.filter, name)]
    print("\n".join(f"[passes now] {name}" for name in gone))
    print(
        f"{count - len(problems)} of {count} pass ({100 * (count - len(problems)) / max(count, 1):.2f} %)"
    )
    if options.report:
        Path(options.report).write_text(json.dumps(problems, indent=1))
    return int(bool(gone or set(problems) - set(known)))


if __name__ == "__main__":
    raise SystemExit(main())
