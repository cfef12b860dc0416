"""Runs the partitioned programs of the executable corpus natively, a thread a device.

    python tests/conformance/executable_corpus_devices.py [--filter REGEX]

`executable_differences.json` names the programs that differ from XLA:CPU, with the reasons.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.conformance import executable_corpus as corpus
from xla_explorer.backends.cpu.devices.device_program import DeviceProgram
from xla_explorer.backends.interfaces import CompileOptions
from xla_explorer.backends.registry import platform


def outputs_on_devices(case: dict[str, Any]) -> tuple[list[list[Any]], list[str]]:
    """Return the leaves of each device, and the opcodes that ran on the evaluator."""
    module, replicas, partitions = corpus.module_of(case)
    module.attributes["replica_count"] = replicas
    module.attributes["num_partitions"] = partitions
    compiler = platform("cpu").compiler()
    options = CompileOptions(threads=1)
    executable = compiler.run_backend(compiler.run_hlo_passes(module, options), options).executable
    program = DeviceProgram(executable, replicas, partitions)  # type: ignore[arg-type]
    slow = [s.opcode for s in program.executable.steps if s.runs_on == "evaluator"]
    given = [corpus.inputs_of(case, d) for d in range(replicas * partitions)]
    return program.run(given), slow


def problem_on_devices(case: dict[str, Any]) -> tuple[str | None, list[str]]:
    """Return what is wrong with a case, None if nothing is, and the opcodes on the evaluator."""
    slow: list[str] = []

    def outputs(case: dict[str, Any]) -> list[list[Any]]:
        results, opcodes = outputs_on_devices(case)
        slow.extend(opcodes)
        return results

    return corpus.problem_of(case, outputs), slow


def main() -> int:
    """Print every difference; exit code 1 if one is new."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--filter", default="")
    pattern = parser.parse_args().filter
    known = corpus.known_differences("exec_multi")
    chosen = [case for case in corpus.cases("exec_multi") if re.search(pattern, case["name"])]
    wrong, evaluated, new = 0, 0, 0
    for case in chosen:
        problem, slow = problem_on_devices(case)
        evaluated += bool(slow)
        if problem is not None:
            wrong, new = wrong + 1, new + (case["name"] not in known)
            print(f"[{known.get(case['name'], 'NEW')}] {case['name']}\n    {problem}")
    print(f"{len(chosen) - wrong} of {len(chosen)} as XLA:CPU, {evaluated} used the evaluator")
    return int(new > 0)


if __name__ == "__main__":
    raise SystemExit(main())
