"""Requests applied to one module of XLA: a changed copy, and the result of each request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.optimize import optimize
from xla_explorer.compiler.pipeline.pipeline import PassPipeline
from xla_explorer.compiler.pipeline.value_check import largest_error
from xla_explorer.compiler.rewriting.driver import rewrite_computation
from xla_explorer.compiler.rewriting.rule import Rule, RuleSet
from xla_explorer.compiler.xla import fuse, keep_apart, kernel_of, named
from xla_explorer.explorer.sessions.arguments import random_arguments
from xla_explorer.explorer.xla.overrides.requests import Requests
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.journal import Journal
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.frontends.hlo_proto import schema
from xla_explorer.frontends.protobuf import Message
from xla_explorer.frontends.protobuf.writing import bytes_field
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.verifier import verify

RequestRow = tuple[str, tuple[str, ...], Reason | None]  # word, subjects, why it was refused
_MOST_EVALUATED: Final = 1 << 24  # elements of all results: about a second of the evaluator


def before_scheduling(
    module: HloModule, requests: Requests
) -> tuple[HloModule | None, list[RequestRow]]:
    """Apply every request but the order of a schedule.

    Return the changed module, None if nothing changed, and the result of each request. Each request
    acts on the result of those before it; a refused one changes nothing.
    """
    now = module
    found: list[RequestRow] = []
    for rule in requests.rules:
        now, reason = _checked(now, partial(_rewritten, rule=rule))
        found.append(("rules", (rule.name,), reason))
    if requests.passes is not None:
        now, reason = _checked(now, partial(_optimized, passes=requests.passes))
        found.append(("passes", (str(requests.passes),), reason))
    copy, is_regrouped = now.clone(), False
    for word, pairs in (("forbid", requests.forbid), ("fuse", requests.fuse)):
        for pair in pairs:
            changed, reason = _regrouped(copy, word, pair)
            is_regrouped = is_regrouped or changed
            found.append((word, pair, reason))
    if is_regrouped:
        verify(copy)
        now = copy
    return (now if now is not module else None), found


# How to grant a request, and the code of its refusal that means that the module follows it already.
_REGROUPING: Final = {
    "forbid": (keep_apart, "already-apart"),
    "fuse": (fuse, "already-in-one-kernel"),
}


def _regrouped(module: HloModule, word: str, pair: tuple[str, str]) -> tuple[bool, Reason | None]:
    """Return whether a request about two instructions changed a module, or why it cannot."""
    producer, consumer = [named(module, name) for name in pair]
    if isinstance(producer, Reason):
        return False, producer
    if isinstance(consumer, Reason):
        return False, consumer
    act, holds_already = _REGROUPING[word]
    reason = act(module, producer, consumer)
    return reason is None, None if reason is not None and reason.code == holds_already else reason


def _rewritten(module: HloModule, rule: Rule) -> bool:
    """Apply a rule to every computation; return True if it changed one."""
    context = PassContext(Journal("off"))
    rules = RuleSet(rule.name, [rule])
    return (
        sum([rewrite_computation(c, rules, context) for c in list(module.computations.values())])
        > 0
    )


def _optimized(module: HloModule, passes: PassPipeline) -> bool:
    """Run a pipeline on a module; return True if it changed it."""
    return optimize(module, passes, "off", in_place=True).changed


def _checked(
    module: HloModule, change: Callable[[HloModule], bool]
) -> tuple[HloModule, Reason | None]:
    """Return a changed copy of a module, verified; the module itself with a reason if refused.

    The values are compared on random arguments if the evaluator computes the module in about a
    second.
    """
    copy = module.clone()
    if not change(copy):
        return module, refuse("nothing-to-change", f"it changes nothing in {module.name}")
    verify(copy)
    if not _is_small(module):
        return copy, None
    arguments = random_arguments(module)
    before, after = [
        [np.asarray(leaf) for leaf in flatten_value(evaluate(one, *arguments))]
        for one in (module, copy)
    ]
    error, is_near = largest_error(before, after)
    if not is_near:
        return module, refuse(
            "values-differ",
            f"it changes the values of {module.name}: the largest relative error is {error:.2g}",
            error=error,
        )
    return copy, None


def _is_small(module: HloModule) -> bool:
    """Return True if the evaluator computes a module soon, and the module reads nothing outside."""
    inside = [i for c in module.computations.values() for i in c.instructions.values()]
    if any(i.opcode.name in ("while", "custom-call", "infeed", "outfeed", "rng") for i in inside):
        return False
    return (
        sum([leaf.element_count for i in inside for _, leaf in i.shape.leaves()]) < _MOST_EVALUATED
    )


def after_scheduling(
    module: HloModule, requests: Requests
) -> tuple[HloModule | None, list[RequestRow]]:
    """Apply the order of a schedule; return as `before_scheduling` does."""
    if not requests.schedule_order:
        return None, []
    subjects = requests.schedule_order
    copy = module.clone()
    found = [named(copy, name) for name in subjects]
    missing = next((one for one in found if isinstance(one, Reason)), None)
    if missing is not None:
        return None, [("schedule_order", subjects, missing)]
    order = [kernel_of(one) for one in found if isinstance(one, HloInstruction)]
    place = order[0].parent
    if any(one.parent is not place for one in order):
        reason = refuse("in-several-computations", "the instructions are of several computations")
        return None, [("schedule_order", subjects, reason)]
    if place.schedule is None:
        reason = refuse("not-scheduled", f"%{place.name} has no schedule")
        return None, [("schedule_order", subjects, reason)]
    made = _reordered(list(place.schedule), order)
    if isinstance(made, Reason):
        return None, [("schedule_order", subjects, made)]
    if tuple(made) == tuple(place.schedule):
        return None, [("schedule_order", subjects, None)]
    place.set_schedule(made)
    verify(copy)
    return copy, [("schedule_order", subjects, None)]


def _reordered(
    schedule: list[HloInstruction], order: list[HloInstruction]
) -> list[HloInstruction] | Reason:
    """Return a schedule in which instructions come in an order, the others as early as before.

    An instruction waits for its operands, its control predecessors and, if it is in the order, for
    the one before it.
    """
    before = dict(zip(order[1:], order, strict=False))
    done: dict[HloInstruction, None] = {}
    waiting = list(schedule)
    while waiting:
        ready = next(
            (
                i
                for i in waiting
                if all(o in done for o in (*i.operands, *i.control_predecessors))
                and (i not in before or before[i] in done)
            ),
            None,
        )
        if ready is None:
            late = next(i for i in waiting if i in before and before[i] not in done)
            return refuse(
                "order-against-operands",
                f"%{before[late].name} depends on %{late.name}, so that it cannot come first",
            )
        done[ready] = None
        waiting.remove(ready)
    return list(done)


def concerned(data: bytes, requests: Requests) -> Requests:
    """Return the requests that a module may have an instruction of, read from its bytes alone.

    Most programs of a process have none, and then cost no more than this search.
    """

    def here(*names: str) -> bool:
        return any(_marker(name) in data for name in names)

    return replace(
        requests,
        fuse=tuple([pair for pair in requests.fuse if here(*pair)]),
        forbid=tuple([pair for pair in requests.forbid if here(*pair)]),
        schedule_order=requests.schedule_order if here(*requests.schedule_order) else (),
    )


def _marker(name: str) -> bytes:
    """Return the bytes of the first field of an instruction of this name."""
    return bytes_field(schema.INSTRUCTION.numbers["name"], name.encode())


def dropped(data: bytes, requests: Requests) -> dict[tuple[str, tuple[str, ...]], Reason]:
    """Return the requests about kernels that a scheduled module does not follow, with the reason.

    A kernel is identified by the computation that contains an instruction: nothing else of the
    module is decoded.
    """
    pairs = [("forbid", pair) for pair in requests.forbid]
    pairs += [("fuse", pair) for pair in requests.fuse]
    if not pairs:
        return {}
    module = Message(schema.MODULE, data)
    entry = module.number("entry_computation_id")
    bodies = [
        (Message(schema.COMPUTATION, raw), bytes(raw)) for raw in module.spans("computations")
    ]
    found: dict[tuple[str, tuple[str, ...]], Reason] = {}
    for word, pair in pairs:
        producer, consumer = [
            next((one for one in bodies if _marker(name) in one[1]), None) for name in pair
        ]
        if producer is None or consumer is None:  # XLA renamed or removed one: nothing can be read
            continue
        kernels = [
            name if body.number("id") == entry else body.text("name")
            for name, (body, _) in zip(pair, (producer, consumer), strict=True)
        ]
        # Other readers of a producer keep it; the joined kernel then has a clone of it.
        has_clone = f"{pair[0]}.clone".encode() in consumer[1]
        together = kernels[0] == kernels[1] or has_clone
        if together is not (word == "fuse"):
            where = " and ".join([f"%{kernel}" for kernel in dict.fromkeys(kernels)])
            found[word, pair] = refuse(
                "undone-by-xla", f"when XLA scheduled the module, they were computed by {where}"
            )
    return found


def refused_by(problem: BaseException) -> Reason:
    """Return an error of ours as the reason of a request that failed."""
    text = problem.message if isinstance(problem, XlaExplorerError) else repr(problem)
    return refuse("internal-error", f"XLA's module went on unchanged: {text[:300]}")
