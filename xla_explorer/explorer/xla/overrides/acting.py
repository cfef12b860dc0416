"""Requests applied to one module of XLA: a changed copy, and the result of each request."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.optimize import optimize
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
    now, found = module, []
    for word, subjects, changed, reason in _each(module, requests):
        found.append((word, subjects, reason))
        now = changed if changed is not None else now
    return (now if now is not module else None), found


def _each(
    module: HloModule, requests: Requests
) -> Iterator[tuple[str, tuple[str, ...], HloModule | None, Reason | None]]:
    for rule in requests.rules:
        changed, reason = _checked(module, lambda copy, rule=rule: _rewritten(copy, rule))
        module = changed or module
        yield "rules", (rule.name,), changed, reason
    if requests.passes is not None:
        passes = requests.passes
        changed, reason = _checked(
            module, lambda copy: optimize(copy, passes, "off", in_place=True).changed
        )
        module = changed or module
        yield "passes", (str(passes),), changed, reason
    for word, pairs, act in (
        ("forbid", requests.forbid, keep_apart),
        ("fuse", requests.fuse, fuse),
    ):
        for pair in pairs:
            copy = module.clone()
            ends = [named(copy, name) for name in pair]
            missing = next((end for end in ends if isinstance(end, Reason)), None)
            if missing is not None:
                yield word, pair, None, missing
                continue
            producer, consumer = [end for end in ends if isinstance(end, HloInstruction)]
            reason = act(copy, producer, consumer)
            if reason is not None:
                wanted = {"fuse": "already-in-one-kernel", "forbid": "already-apart"}[word]
                yield word, pair, None, None if reason.code == wanted else reason
                continue
            verify(copy)
            module = copy
            yield word, pair, copy, None


def _rewritten(module: HloModule, rule: Rule) -> bool:
    """Apply a rule to every computation; return True if it changed one."""
    context = PassContext(Journal("off"))
    rules = RuleSet(rule.name, [rule])
    return (
        sum([rewrite_computation(c, rules, context) for c in list(module.computations.values())])
        > 0
    )


def _checked(module: HloModule, change: object) -> tuple[HloModule | None, Reason | None]:
    """Change a copy of a module, verify it and compare its values with the module's.

    The values are compared on random arguments if the evaluator computes the module in about a
    second.
    """
    copy = module.clone()
    assert callable(change)
    if not change(copy):
        return None, refuse("nothing-to-change", f"it changes nothing in {module.name}")
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
        return None, refuse(
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
    module = Message(schema.MODULE, data)
    entry = module.number("entry_computation_id")
    bodies = [
        (Message(schema.COMPUTATION, raw), bytes(raw)) for raw in module.spans("computations")
    ]
    found: dict[tuple[str, tuple[str, ...]], Reason] = {}
    for word, pairs in (("forbid", requests.forbid), ("fuse", requests.fuse)):
        for pair in pairs:
            kernels = []
            for name in pair:
                body = next((one for one in bodies if _marker(name) in one[1]), None)
                if body is not None:
                    is_alone = body[0].number("id") == entry
                    kernels.append(name if is_alone else body[0].text("name"))
            if len(kernels) < 2:  # XLA renamed or removed one: nothing can be read of it
                continue
            consumer = next(one for one in bodies if _marker(pair[1]) in one[1])
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
