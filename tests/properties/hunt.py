"""Run random modules in child processes: `python hunt.py FIRST COUNT [--no-gpu]`.

It prints each failing seed once by its message.

A crash or a hang of native code ends only the child, which is started again behind the seed it died
of.
"""

from __future__ import annotations

import faulthandler
import re
import subprocess
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


def child(first: int, last: int, gpu: bool, size: int) -> None:
    """Check seeds first ... last - 1, one line each."""
    faulthandler.enable()
    from tests.properties.module_checks import check_all
    from tests.properties.random_modules import random_module

    for seed in range(first, last):
        print(f"seed {seed}", flush=True)
        try:
            check_all(random_module(seed, size), gpu=gpu and seed % 3 == 0)
        except Exception as problem:
            # `__cause__` has more details than the wrapper around it.
            root: BaseException = problem
            while root.__cause__ is not None:
                root = root.__cause__
            where = [
                f"{f.filename.rsplit('/', 1)[-1]}:{f.lineno}"
                for f in traceback.extract_tb(root.__traceback__)[-2:]
            ]
            print(
                f"FAIL {seed} {type(root).__name__}: {str(root)[:400]!r} {' '.join(where)}",
                flush=True,
            )


def main() -> None:
    """Hunt."""
    first, count = int(sys.argv[1]), int(sys.argv[2])
    gpu = "--no-gpu" not in sys.argv
    size = int(sys.argv[3]) if len(sys.argv) > 3 and sys.argv[3].isdigit() else 14
    seed, end, kinds, started = first, first + count, {}, time.time()
    while seed < end:
        last = min(end, seed + 100)
        command = [
            sys.executable,
            __file__,
            "--child",
            str(seed),
            str(last),
            str(int(gpu)),
            str(size),
        ]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=120)
            output, status, errors = done.stdout, done.returncode, done.stderr
        except subprocess.TimeoutExpired as late:
            output, status, errors = (late.stdout or b"").decode(), -1, "hang"
        lines = output.splitlines()
        for line in lines:
            if line.startswith("FAIL"):
                kind = re.sub(r"%\S+|\d[\d.e+-]*", "#", line.split(" ", 2)[2])[:110]
                if kind not in kinds:
                    print(line, flush=True)
                kinds.setdefault(kind, []).append(int(line.split()[1]))
        seeds = [int(line.split()[1]) for line in lines if line.startswith("seed")]
        if status == 1:
            raise SystemExit(errors[-3000:])
        if status:
            dead = seeds[-1] if seeds else seed
            print(f"DIED at {dead} with {status}: {errors[-600:]}", flush=True)
            seed = dead + 1
        else:
            seed = last
    print(f"{count} modules in {time.time() - started:.0f} s; failures:")
    for kind, seeds in sorted(kinds.items(), key=lambda item: -len(item[1])):
        print(f"  {len(seeds):4d} {kind}  seeds {seeds[:8]}")


if __name__ == "__main__":
    if sys.argv[1] == "--child":
        child(int(sys.argv[2]), int(sys.argv[3]), bool(int(sys.argv[4])), int(sys.argv[5]))
    else:
        main()
