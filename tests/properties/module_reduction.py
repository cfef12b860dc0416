"""Reduce a failing module: `python module_reduction.py SEED [SIZE]`.

It prints the least HLO found that fails in the same way.

The moves are those of `xe.minimize`; a parameter in place of an instruction gets the value that the
evaluator gives this. Each trial runs in a forked child, so crashes and hangs count as failures too.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

import xla_explorer as xe
from tests.properties.module_checks import check_all, evaluate_leaves
from tests.properties.random_modules import RandomModule, random_module
from xla_explorer.explorer.questions.minimization import smaller_modules
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule


def failure(
    case: RandomModule, check: Callable[[RandomModule], None], seconds: int = 20
) -> str | None:
    """Return how the check fails, as a short text without numbers; None if it holds."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        signal.signal(
            signal.SIGALRM, signal.SIG_DFL
        )  # a handler in Python would wait for the call that does not return
        signal.alarm(seconds)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        code = 0
        try:
            check(case)
        except BaseException as problem:
            root: BaseException = problem
            while root.__cause__ is not None:
                root = root.__cause__
            text = re.sub(r"%\S+|\d[\d.e+-]*|leaf.*", "#", f"{type(root).__name__} {root}")[:60]
            os.write(write, text.encode())
            code = 1
        os._exit(code)
    os.close(write)
    text = os.read(read, 1000).decode()
    os.close(read)
    status = os.waitpid(child, 0)[1]
    return f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else text if status else None


def as_case(module: HloModule, arguments: tuple[Any, ...], extremes: bool) -> RandomModule:
    """Return a case whose floats are compared by their own magnitude."""
    leaves = evaluate_leaves(module, arguments)
    bounds = [
        float(np.abs(leaf[np.isfinite(leaf)].astype(np.complex128)).max(initial=1.0))
        if leaf.size
        else 1.0
        for leaf in leaves
    ]
    return RandomModule(
        module, arguments, bounds, [leaf.dtype.kind in "biu" for leaf in leaves], extremes
    )


def candidates(case: RandomModule) -> Iterator[RandomModule]:
    """Smaller cases, the smallest first."""
    for module in smaller_modules(case.module, tidy=True):
        arguments = tuple([argument(case, parameter) for parameter in module.entry.parameters()])
        yield as_case(xe.parse_hlo(module.to_text()), arguments, case.extremes)


def argument(case: RandomModule, parameter: HloInstruction) -> Any:
    """Return a smaller module's argument: the case's own, or the replaced instruction's value."""
    replaced = case.module.entry.instructions.get(parameter.id)
    if replaced is not None:
        return case.arguments[replaced.payload]
    user = parameter.users[0]
    single = case.module.clone()
    single.entry.set_root(
        single.find(case.module.find(user.id).operands[user.operands.index(parameter)].id)
    )
    single.attributes.pop("entry_computation_layout", None)
    return evaluate_leaves(single, case.arguments)[0]


def reduced(
    case: RandomModule, check: Callable[[RandomModule], None], seconds: float = 120.0
) -> tuple[RandomModule, str | None]:
    """Return the smallest case found, and how it fails."""
    kind, end = failure(case, check), time.time() + seconds
    if kind is None:
        return case, None
    progress = True
    while progress and time.time() < end:
        progress = False
        for smaller in candidates(case):
            if time.time() > end:
                break
            if failure(smaller, check) == kind:
                case, progress = smaller, True
                break
    return case, kind


if __name__ == "__main__":
    start = random_module(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 14)
    small, how = reduced(start, check_all)
    print(how)
    print(small.module.to_text(xe.hlo.PrintOptions.short_parsable))
    for argument in small.arguments:
        print(
            np.array2string(np.asarray(argument, dtype=object), threshold=40)
            if not isinstance(argument, tuple)
            else argument
        )
