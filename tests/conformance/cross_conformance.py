"""A sample of the conformance corpus over all opcodes, for backends of other machines.

`python tests/conformance/cross_conformance.py aarch64 riscv64 wasm32 --cases 300` runs each case in
a process of its own (a crash of LLVM costs that case), under the backend's emulator; for backends
that only compile it makes assembly and object instead.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.support.corpora import SHARED
from xla_explorer.backends.interfaces import CompileOptions, CompileResult
from xla_explorer.backends.registry import platform
from xla_explorer.hlo.text.parser import parse_hlo

LIMIT = 60
CORPUS = SHARED / "conformance"


def harness() -> ModuleType | None:
    """Return the corpus's own loader and comparison; None if it is not beside the checkout."""
    if not (CORPUS / "conformance.py").exists():
        return None
    spec = importlib.util.spec_from_file_location(
        "conformance_harness_cross", CORPUS / "conformance.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def sample(found: ModuleType, count: int) -> list[Any]:
    """Return `count` cases, ordered by name: in each round every remaining opcode gives one."""
    cases = sorted(
        found.load_cases(str(CORPUS / "dev")),
        key=lambda case: hashlib.sha256(f"cross:{case.name}".encode()).digest(),
    )
    by_opcode: dict[str, list[Any]] = {}
    for case in cases:
        for opcode in case.tags["opcodes"]:
            by_opcode.setdefault(opcode, []).append(case)
    chosen: dict[str, Any] = {}
    seen: Counter[str] = Counter()
    rounds = 1
    while len(chosen) < count and any(by_opcode.values()):
        for opcode, waiting in sorted(by_opcode.items(), key=lambda item: (len(item[1]), item[0])):
            while waiting and seen[opcode] < rounds and len(chosen) < count:
                case = waiting.pop(0)
                if case.name not in chosen:
                    chosen[case.name] = case
                    seen.update(case.tags["opcodes"])
        rounds += 1
    return list(chosen.values())


def compile_case(backend: str, case: Any, options: dict[str, Any]) -> CompileResult:
    """Compile a case's module."""
    compiler = platform(backend).compiler()
    given = CompileOptions(journal="off", cache=False, backend_options=options)
    return compiler.run_backend(compiler.run_hlo_passes(parse_hlo(case.hlo), given), given)


def check(found: ModuleType, backend: str, case: Any, **options: Any) -> str:
    """`pass` (with a remark, perhaps), `refused: ...` or what is wrong.

    A backend that cannot run here passes a case when it makes its machine code.
    """
    result = compile_case(backend, case, options)
    if result.executable is None:
        if "object" not in result.stages:
            return f"refused: {result.why_not}"
        made = isinstance(result.stages["assembly"].text, str) and result.stages["object"].data
        evaluated = getattr(
            result.program, "evaluated", ()
        )  # of a GPU program: what the host would compute
        if made and evaluated:
            return f"pass: but for {len(evaluated)} steps on the host: {evaluated[0].reason}"
        return "pass" if made else "no code"
    passed, problem, _ = found.compare_case(result.executable.execute(case.inputs), case)
    return "pass" if passed else f"mismatch: {problem}"


def check_apart(found: ModuleType, backend: str, case: Any, **options: Any) -> str:
    """Check a case in a process of its own, which has LIMIT seconds."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        signal.signal(
            signal.SIGALRM, signal.SIG_DFL
        )  # a handler in Python would wait for the call that does not return
        signal.alarm(LIMIT)
        try:
            answer = check(found, backend, case, **options)
        except BaseException as problem:
            answer = f"error: {type(problem).__name__}: {problem}"
        os.write(writer, answer[:4000].encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        answer = pipe.read().decode("utf-8", "replace")
    _, status = os.waitpid(child, 0)
    return answer if status == 0 and answer else f"crash: status {status}"


def main() -> int:
    """Print what is wrong, then a line a backend."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("backends", nargs="+")
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument(
        "--cpu", default=None, help="CPU as LLVM spells it, instead of the backend's own"
    )
    parser.add_argument("--features", default=None)
    given = parser.parse_args()
    found = harness()
    if found is None:
        print(f"the conformance corpus is not at {CORPUS}", file=sys.stderr)
        return 2
    options = {
        name: value
        for name, value in (("cpu", given.cpu), ("features", given.features))
        if value is not None
    }
    cases = sample(found, given.cases)
    opcodes = {opcode for case in cases for opcode in case.tags["opcodes"]}
    for backend in given.backends:
        why = platform(backend).availability()
        compile_case(
            backend, cases[0], options
        )  # what is loaded and initialised now, the children need not; nothing with threads
        started = time.perf_counter()
        answers: Counter[str] = Counter()
        remarks = 0
        for case in cases:
            answer = check_apart(found, backend, case, **options)
            answers[answer.split(":")[0]] += 1
            remarks += answer.startswith("pass:")
            if answer != "pass":
                print(f"{backend} {case.name}: {answer[:300]}", flush=True)
        what = (
            "run"
            if why is None
            else f"compiled only ({why.code}), {remarks} of them with steps on the host"
        )
        seconds = time.perf_counter() - started
        print(
            f"{backend}: {answers['pass']} of {len(cases)} right, {len(opcodes)} opcodes, {what}, {seconds:.0f} s: {dict(answers)}",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
