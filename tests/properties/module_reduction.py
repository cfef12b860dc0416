"""Makes a failing module small: `python module_reduction.py SEED [SIZE]` prints the least HLO found that fails in the same way.

Two moves, as long as they keep the failure: another root (what it does not need goes), and a parameter in place of an instruction, with
the value that the evaluator gives it. Each trial runs in a forked child, so crashes and hangs count as failures too.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

import xla_explorer as xe
from tests.properties.module_checks import check_all, evaluate_leaves
from tests.properties.random_modules import RandomModule, random_module
from xla_explorer.compiler.transforms.simplifiers.dead_code import remove_dead_instructions
from xla_explorer.hlo.module import HloModule


def failure(case: RandomModule, check: Callable[[RandomModule], None], seconds: int = 20) -> str | None:
    """How the check fails, as a short text without numbers; None when it holds."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
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
    """A case whose floats are compared by their own magnitude."""
    leaves = evaluate_leaves(module, arguments)
    bounds = [float(np.abs(leaf[np.isfinite(leaf)].astype(np.complex128)).max(initial=1.0)) if leaf.size else 1.0 for leaf in leaves]
    return RandomModule(module, arguments, bounds, [leaf.dtype.kind in "biu" for leaf in leaves], extremes)


def tidy(module: HloModule, arguments: tuple[Any, ...], extremes: bool) -> RandomModule:
    """Without dead instructions, unused parameters and computations that nobody calls."""
    module.attributes.pop("entry_computation_layout", None)
    for computation in list(module.computations.values()):
        remove_dead_instructions(computation)
    kept, number = [], 0
    for p in module.entry.parameters():
        if p.users or p.is_root:
            kept.append(arguments[p.payload])
            module.entry.set_payload(p, number)
            number += 1
        else:
            module.entry.remove(p)
    reachable = module.post_order_computations()
    module.computations = {c.name: c for c in reachable}
    return as_case(xe.parse_hlo(module.to_text()), tuple(kept), extremes)


def candidates(case: RandomModule) -> Any:
    """Smaller cases, the smallest first."""
    names = [i.name for i in case.module.entry.post_order() if i.opcode.name != "parameter"]
    for name in names[:-1]:
        module = case.module.clone()
        module.entry.set_root(module.entry.find(name) if hasattr(module.entry, "find") else module.find(name))
        yield tidy(module, case.arguments, case.extremes)
    for name in reversed(names[:-1]):
        module = case.module.clone()
        value = module.find(name)
        if not value.shape.is_array:
            continue
        single = case.module.clone()
        single.entry.set_root(single.find(name))
        single.attributes.pop("entry_computation_layout", None)
        leaf = evaluate_leaves(single, case.arguments)[0]
        parameter = module.entry.add_parameter(len(case.arguments), value.shape, None)
        module.entry.replace(value, parameter)
        smaller = tidy(module, (*case.arguments, leaf), case.extremes)
        if smaller.module.instruction_count() < case.module.instruction_count():
            yield smaller


def reduced(case: RandomModule, check: Callable[[RandomModule], None], seconds: float = 120.0) -> tuple[RandomModule, str | None]:
    """The smallest case found, and how it fails."""
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
        print(np.array2string(np.asarray(argument, dtype=object), threshold=40) if not isinstance(argument, tuple) else argument)
