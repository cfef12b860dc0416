"""`xe.reduce`: the least module that still shows a problem."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from xla_explorer.compiler.transforms.simplifiers.dead_code import remove_dead_instructions
from xla_explorer.explorer.sessions.loading import as_module
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.module import HloModule


def reduce(module: Any, still_fails: Callable[[HloModule], object], *, seconds: float = 60.0) -> HloModule:
    """Make a module small as long as it still fails.

    Two moves are tried until neither helps: another instruction as the root, and a parameter in the place of an instruction.

    Parameters
    ----------
    module : HloModule, str, Path or session
        What fails; it is left as it is.
    still_fails : callable
        Takes a smaller module and says whether it fails in the same way. An exception counts as no.
    seconds : float
        When to stop with the smallest module found so far.

    Returns
    -------
    HloModule
        The smallest module found.

    Raises
    ------
    XlaExplorerError
        The module given does not fail.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> text = '''HloModule m
    ... ENTRY e {
    ...   x = f32[4] parameter(0)
    ...   y = f32[4] exponential(x)
    ...   z = f32[4] tanh(y)
    ...   ROOT r = f32[4] negate(z)
    ... }'''
    >>> small = xe.reduce(text, lambda m: any(i.opcode.name == "tanh" for i in m.instructions()))
    >>> small.instruction_count()
    2
    """
    best = as_module(module).clone()
    if not still_fails(best.clone()):
        raise XlaExplorerError("the module given does not fail, so there is nothing to reduce", "still_fails(module) must be true at first")
    end, progress = time.monotonic() + seconds, True
    while progress and time.monotonic() < end:
        progress = False
        for smaller in _smaller(best):
            if time.monotonic() >= end:
                break
            if smaller.instruction_count() < best.instruction_count() and _fails(still_fails, smaller):
                best, progress = smaller, True
                break
    return best


def _fails(still_fails: Callable[[HloModule], object], module: HloModule) -> bool:
    try:
        return bool(still_fails(module.clone()))
    except Exception:  # another failure than the one that is looked for
        return False


def _smaller(module: HloModule) -> Iterator[HloModule]:
    """Modules that compute less, the smallest first."""
    names = [i.name for i in module.entry.post_order() if i.opcode.name != "parameter"]
    for name in names[:-1]:
        changed = module.clone()
        changed.entry.set_root(changed.find(name))
        yield _tidy(changed)
    for name in reversed(names[:-1]):
        changed = module.clone()
        replaced = changed.find(name)
        if replaced.shape.is_array and replaced.parent is changed.entry:
            changed.entry.replace(replaced, changed.entry.add_parameter(len(changed.entry.parameters()), replaced.shape, None))
            yield _tidy(changed)


def _tidy(module: HloModule) -> HloModule:
    """Without dead instructions, unused parameters and computations that nobody calls."""
    module.attributes.pop("entry_computation_layout", None)
    for computation in list(module.computations.values()):
        remove_dead_instructions(computation)
    number = 0
    for p in module.entry.parameters():
        if p.users or p.is_root:
            module.entry.set_payload(p, number)
            number += 1
        else:
            module.entry.remove(p)
    module.computations = {c.name: c for c in module.post_order_computations()}
    return module
