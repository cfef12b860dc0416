"""Random pairs of program and schedule: verifier, text, numpy and native code agree.

For one in ten, the emulated PTX agrees too.

    python tests/compiler/codegen/nest/random_pairs.py FIRST LAST     # seeds; a hundred pairs each

The program prints counts, and ends at the first pair that does not agree.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4]))

from tests.backends.gpu.emitters.test_nest_kernels import (
    check_random_schedules as check_on_emulator,
)
from tests.compiler.codegen.nest.nest_checks import assert_near
from tests.compiler.codegen.nest.test_directives import BODIES, plain, random_text
from tests.compiler.codegen.nest.test_lowering import native
from xla_explorer.compiler.codegen.lowering.lower import lower
from xla_explorer.compiler.codegen.nest.meaning import evaluate_nest
from xla_explorer.compiler.codegen.nest.parser import parse_nest
from xla_explorer.compiler.codegen.nest.schedule import run_schedule
from xla_explorer.compiler.codegen.nest.schedule_text import parse_directives
from xla_explorer.compiler.codegen.nest.text import nest_text
from xla_explorer.compiler.codegen.nest.verifier import why_not_well_formed
from xla_explorer.foundation.reason import Reason

PAIRS = 100


def check(seed: int) -> Counter[str]:
    """Check `PAIRS` pairs of a seed; return their number by what was compared."""
    choice, seen = random.Random(seed), Counter[str]()
    for _ in range(PAIRS):
        nest, operands, wanted = plain(choice.choice(list(BODIES)))
        scheduled = nest
        done: list[str] = []
        for _ in range(choice.randint(1, 7)):
            (directive,) = parse_directives(random_text(choice, scheduled))
            after, trace = run_schedule(scheduled, [directive])
            assert trace.error is None, (done, directive, trace.error)
            done += [str(directive)] * (after is not scheduled)
            scheduled = after
        what = f"seed {seed}: {nest.name}: {','.join(done)}\n{nest_text(scheduled)}"
        assert not why_not_well_formed(scheduled), what
        assert nest_text(parse_nest(nest_text(scheduled))) == nest_text(scheduled), what
        assert_near(evaluate_nest(scheduled, operands), wanted, what)
        seen["verified, printed, read, evaluated"] += 1
        if isinstance(lower(scheduled), Reason):
            seen["without native code"] += 1
        else:
            assert_near(native(scheduled, operands), wanted, what)
            seen["native"] += 1
    emulated = check_on_emulator(seed, PAIRS // 10)
    seen["PTX"] += PAIRS // 10 - emulated["not-lowered"]
    return seen


def main() -> None:
    first, last = map(int, sys.argv[1:])
    seen = Counter[str]()
    for seed in range(first, last):
        seen += check(seed)
        print(
            f"seeds {first} to {seed}: {', '.join(f'{count} {name}' for name, count in seen.items())}",
            flush=True,
        )


if __name__ == "__main__":
    main()
