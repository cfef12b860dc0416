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
from xla_explorer.explorer.sessions.arguments import random_arguments
from xla_explorer.explorer.xla.overrides.module_bytes import ModuleBytes, marker
from xla_explorer.explorer.xla.overrides.requests import Requests
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.journal import Journal
from xla_explorer.foundation.reason import Reason, refuse
from xla_explorer.frontends.hlo_proto import read_hlo_proto, schema
from xla_explorer.frontends.hlo_proto.writer import write_hlo_proto
from xla_explorer.frontends.protobuf import Message
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.verifier import verify

RequestRow = tuple[str, tuple[str, ...], Reason | None]  # word, subjects, why it was refused
_MOST_EVALUATED: Final = 1 << 24  # elements of all results: about a second of the evaluator


def before_scheduling(data: bytes, requests: Requests) -> tuple[bytes | None, list[RequestRow]]:
    """Apply every request but the order of a schedule to a serialized module.

    Return the changed module, None if nothing changed, and the result of each request. Each request
    acts on the result of those before it; a refused one changes nothing. Rules and passes read and
    write the whole module, requests about kernels only these kernels.
    """
    now = data
    found: list[RequestRow] = []
    if requests.rules or requests.passes is not None:
        module = before = read_hlo_proto(data).module
        for rule in requests.rules:
            module, reason = _checked(module, partial(_rewritten, rule=rule))
            found.append(("rules", (rule.name,), reason))
        if requests.passes is not None:
            module, reason = _checked(module, partial(_optimized, passes=requests.passes))
            found.append(("passes", (str(requests.passes),), reason))
        now = write_hlo_proto(module) if module is not before else data
    if not (requests.forbid or requests.fuse):
        return (now if now is not data else None), found
    whole, is_regrouped = ModuleBytes(now), False
    for word, pairs in (("forbid", requests.forbid), ("fuse", requests.fuse)):
        for pair in pairs:
            changed, reason = whole.regroup(word, pair)
            is_regrouped = is_regrouped or changed
            found.append((word, pair, reason))
    now = whole.to_bytes() if is_regrouped else now
    return (now if now is not data else None), found


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


def after_scheduling(data: bytes, requests: Requests) -> tuple[bytes | None, list[RequestRow]]:
    """Apply the order of a schedule; return as `before_scheduling` does."""
    if not requests.schedule_order:
        return None, []
    subjects = requests.schedule_order
    made = ModuleBytes(data).reordered(subjects)
    reason = made if isinstance(made, Reason) else None
    return (made if isinstance(made, bytes) else None), [("schedule_order", subjects, reason)]


def concerned(data: bytes, requests: Requests) -> Requests:
    """Return the requests that a module may have an instruction of, read from its bytes alone.

    Most programs of a process have none, and then cost no more than this search.
    """

    def here(*names: str) -> bool:
        return any(marker(name) in data for name in names)

    return replace(
        requests,
        fuse=tuple([pair for pair in requests.fuse if here(*pair)]),
        forbid=tuple([pair for pair in requests.forbid if here(*pair)]),
        schedule_order=requests.schedule_order if here(*requests.schedule_order) else (),
    )


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
            next((one for one in bodies if marker(name) in one[1]), None) for name in pair
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
