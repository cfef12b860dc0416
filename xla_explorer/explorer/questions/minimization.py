"""`xe.minimize`: the smallest module that still shows a problem."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain

from xla_explorer.compiler.pipeline import PassContext, make_pass
from xla_explorer.explorer.sessions.loading import ModuleLike, as_module
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.keywords import explains_arguments
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.verifier import violations

Transformation = Callable[[HloInstruction], bool]


@explains_arguments
def minimize(
    module: ModuleLike, still_fails: Callable[[HloModule], object], *, seconds: float = 60.0
) -> HloModule:
    """Make a module smaller while it still fails.

    Five transformations are tried until none helps:

    - make another instruction the root;
    - replace an instruction by a parameter;
    - replace an instruction by one of its operands;
    - replace all operands of a shape by one of them;
    - remove an unused instruction.

    Parameters
    ----------
    module : HloModule, str, Path or session
        The module that fails; it stays unchanged.
    still_fails : callable
        Takes a smaller module and returns True if it fails in the same way. An exception counts as
        False.
    seconds : float
        Time limit, after which the smallest module so far is returned.

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
    >>> small = xe.minimize(text, lambda m: any(i.opcode.name == "tanh" for i in m.instructions()))
    >>> small.instruction_count()
    2
    """
    best = as_module(module).clone()
    if not still_fails(best.clone()):
        raise XlaExplorerError(
            "the module given does not fail, so there is nothing to minimize",
            "still_fails(module) must be true at first",
        )
    end, progress = time.monotonic() + seconds, True
    while progress and time.monotonic() < end:
        progress = False
        other_roots = smaller_modules(
            best, tidy=True, transformations=[_make_root]
        )  # tidied they are the smallest
        for smaller in chain(other_roots, smaller_modules(best, tidy=True)):
            if time.monotonic() >= end:
                break
            if _fails(still_fails, smaller):
                best, progress = smaller, True
                break
    return best


def _fails(still_fails: Callable[[HloModule], object], module: HloModule) -> bool:
    try:
        return bool(still_fails(module.clone()))
    except Exception:  # another failure than the one sought
        return False


def smaller_modules(
    module: HloModule,
    *,
    tidy: bool = False,
    transformations: Sequence[Transformation] | None = None,
) -> Iterator[HloModule]:
    """Yield the smaller well-formed modules that one transformation makes, in program order.

    tidy: without dead code and unused parameters.
    """
    for i in list(module.entry.post_order()):
        for transformation in transformations or (
            _make_root,
            _replace_by_operand,
            _replace_by_parameter,
            _remove_unused,
            partial(_merge_operands, which=0),
            partial(_merge_operands, which=-1),
        ):
            candidate = module.clone()
            if _made_smaller(candidate, transformation, i.id, tidy) and _weight(
                candidate
            ) < _weight(module):
                yield candidate


def _made_smaller(module: HloModule, transformation: Transformation, key: int, tidy: bool) -> bool:
    """Apply a transformation to an instruction; return True if the module stays well formed."""
    module.attributes.pop("entry_computation_layout", None)
    module.out_tree = None
    if not transformation(module.find(key)):
        return False
    if tidy:
        _tidy(module)
    reachable = module.post_order_computations()
    module.computations = {c.name: c for c in module.computations.values() if c in reachable}
    return not violations(module)


def _weight(module: HloModule) -> tuple[int, int, int]:
    operations = [i for i in module.instructions() if i.opcode.name != "parameter"]
    tuples = sum([i.opcode.name == "tuple" for i in operations])
    return (
        len(operations) + tuples,
        module.instruction_count(),
        sum([len(set(i.operands)) for i in operations]),
    )


def _tidy(module: HloModule) -> None:
    make_pass("dce").run(module, PassContext())
    for parameter in module.entry.parameters():
        _remove_unused(parameter)


def _make_root(i: HloInstruction) -> bool:
    """Make it the root; remove the old root if it is unused."""
    computation = i.parent
    old = computation.root
    if old is i or not i.shape.is_array:
        return False
    computation.set_root(i)
    if not old.users and old.opcode.name != "parameter" and not old.opcode.side_effect:
        computation.remove(old)
    return True


def _remove_unused(i: HloInstruction) -> bool:
    """Remove an unused instruction; renumber the parameters."""
    computation = i.parent
    if i.users or i is computation.root:
        return False
    is_parameter = i.opcode.name == "parameter"
    computation.remove(i)
    if is_parameter:
        for number, parameter in enumerate(computation.parameters()):
            if parameter.payload != number:
                computation.set_payload(parameter, number)
    return True


def _replace_by_operand(i: HloInstruction) -> bool:
    """Replace it by an operand of the same shape."""
    computation = i.parent
    for operand in i.operands:
        if operand.shape is i.shape and i.shape.is_array:
            computation.replace(i, operand)
            computation.remove(i)
            return True
    return False


def _replace_by_parameter(i: HloInstruction) -> bool:
    """Replace it by a new parameter."""
    computation = i.parent
    if i.opcode.name in ("parameter", "constant") or not i.shape.is_array or i is computation.root:
        return False
    parameter = computation.add_parameter(len(computation.parameters()), i.shape)
    computation.replace(i, parameter)
    computation.remove(i)
    return True


def _merge_operands(i: HloInstruction, which: int) -> bool:
    """Replace its operands of one shape by one of them."""
    if i.opcode.name == "tuple" or len(set(i.operands)) < 2:
        return False
    kept = i.operands[which]
    i.parent.set_operands(i, [kept if o.shape is kept.shape else o for o in i.operands])
    return True
