"""Training scripts on JAX's own CPU and through the plugin: losses, time per step, memory.

See README.md.

python tests/pjrt/training/compare.py [NAME or PATH ...] [--rounds 1]
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.pjrt.child import run

HERE = Path(__file__).parent
TOLERANCE = 5e-3  # of a loss, relative, within 100 steps; JAX's own CPU differs from itself by 2.8e-3 in the worst one (README.md)


def one(path: Path, platform: str) -> dict[str, Any]:
    """Return the output of a script on a platform."""
    done = run(str(path), platforms=platform, seconds=900)
    if done.returncode:
        raise RuntimeError(
            f"{path.name} on {platform}: exit status {done.returncode}: {done.stderr[-1500:]}"
        )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def apart(a: list[float], b: list[float]) -> float:
    """Return the largest relative difference of two curves."""
    return max(abs(x - y) / max(abs(y), 1e-3) for x, y in zip(a, b, strict=True))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*")
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    scripts = [
        p for p in sorted(HERE.glob("*.py")) if p.stem not in ("__init__", "loop", "compare")
    ]
    chosen = [Path(n) if n.endswith(".py") else HERE / f"{n}.py" for n in options.names] or scripts
    ratios, works, wrong = [], [], []
    for path in chosen:
        rounds = [
            [one(path, platform) for platform in ("xla_explorer", "cpu")]
            for _ in range(options.rounds)
        ]
        ours, theirs = rounds[0]
        step = [min(statistics.median(r[side]["seconds"][50:]) for r in rounds) for side in (0, 1)]
        work = [min(statistics.mean(r[side]["processor"][50:]) for r in rounds) for side in (0, 1)]
        works.append(work[0] / work[1])
        first = [r["seconds"][0] for r in rounds[0]]
        difference = apart(ours["losses"], theirs["losses"])
        ratios.append(step[0] / step[1])
        wrong += [path.stem] if difference > TOLERANCE else []
        print(
            f"{path.stem:22} loss {ours['losses'][0]:.5g} -> {ours['losses'][-1]:.5g}, apart {difference:.1e}; "
            f"step {step[0] * 1e3:.3f} / {step[1] * 1e3:.3f} ms = {ratios[-1]:.2f}; "
            f"processor {work[0] * 1e3:.3f} / {work[1] * 1e3:.3f} ms = {works[-1]:.2f}; first {first[0]:.2f} / {first[1]:.2f} s; "
            f"memory {ours['memory_kib'] >> 10} / {theirs['memory_kib'] >> 10} MiB",
            flush=True,
        )
    means = [statistics.geometric_mean(some) for some in (ratios, works)]
    print(
        f"geometric means, ours / JAX's CPU: time per step {means[0]:.2f}, processor time per step {means[1]:.2f}"
    )
    if wrong:
        print(f"losses differ: {', '.join(wrong)}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
