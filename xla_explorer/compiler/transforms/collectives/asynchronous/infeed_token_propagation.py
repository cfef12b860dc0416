"""Tokens that order the infeeds and outfeeds of loops and conditionals with those around them.

Source: xla/hlo/transforms/collectives/infeed_token_propagation.cc.

==============================================  ==============================================
handled by XLA                                  here
==============================================  ==============================================
infeeds and outfeeds with a chain of their own  the same; one chain of each kind a computation
while bodies                                    the token becomes an element of the state
branches of conditionals                        an element of the branch's argument and of the
                                                result
a chain of the computation around               joined, before or behind by dependence
feeds with a configuration                      unchanged
conditions of loops, other callers, sharding    the propagation stops
domains                                         the module stays as it is
a computation with several callers              refused: flatten the call graph first
==============================================  ==============================================
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from xla_explorer.compiler.pipeline.context import PassContext
from xla_explorer.compiler.pipeline.pass_interface import register_pass
from xla_explorer.compiler.transforms.collectives.asynchronous.token_threading import (
    element,
    through_conditional,
    through_loop,
)
from xla_explorer.compiler.transforms.simplifiers.dead_code import DeadCodeElimination
from xla_explorer.compiler.transforms.simplifiers.tuple_simplifier import TupleSimplifier
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.analysis.call_graph import call_sites
from xla_explorer.hlo.analysis.reachability import depends_on
from xla_explorer.hlo.computation import HloComputation
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.module import HloModule

_TOKEN = {"infeed": 0, "outfeed": 1}  # the operand that is the token


def _token_user(infeed: HloInstruction) -> HloInstruction | None:
    """Return the element of an infeed that is its token."""
    found = [
        u
        for u in infeed.users
        if u.opcode.name == "get-tuple-element" and u.attributes["index"] == 1
    ]
    return found[0] if found else None


def chain_begin(feed: HloInstruction) -> HloInstruction:
    """Return the first feed of the chain that ends in this one."""
    kind = feed.opcode.name
    while True:
        token = feed.operands[_TOKEN[kind]]
        if kind == "infeed" and token.opcode.name == "get-tuple-element":
            token = token.operands[0]
        if token.opcode.name != kind:
            return feed
        feed = token


def chain_end(feed: HloInstruction) -> HloInstruction:
    """Return the last feed of the chain that starts with this one."""
    kind = feed.opcode.name
    while True:
        token = _token_user(feed) if kind == "infeed" else feed
        if token is None or len(token.users) != 1:
            return feed
        [user] = token.users
        if user.opcode.name != kind:
            return feed
        feed = user


def is_dangling(feed: HloInstruction) -> bool:
    """Return True if the chain neither waits for anything nor is waited for."""
    first = chain_begin(feed).operands[_TOKEN[feed.opcode.name]]
    if first.opcode.name != "after-all" or first.operands:
        return False
    last = chain_end(feed)
    return _token_user(last) is None if feed.opcode.name == "infeed" else not last.users


def _feeds(computation: HloComputation, kind: str) -> list[HloInstruction]:
    """Return the feeds of a kind without a configuration of their own."""
    return [
        i
        for i in computation.instructions.values()
        if i.opcode.name == kind and not i.attributes.get(f"{kind}_config")
    ]


class _Propagation:
    """One chain on its way to the entry. input, output: the tokens at its ends."""

    def __init__(self, feed: HloInstruction) -> None:
        self.kind = feed.opcode.name
        self.at = feed
        begin, end = chain_begin(feed), chain_end(feed)
        self.input = begin.operands[_TOKEN[self.kind]]
        self.output = element(end, 1) if self.kind == "infeed" else end

    def join_chain(self) -> None:
        """Join a chain of the computation around, if it runs before or after."""
        others = [f for f in _feeds(self.at.parent, self.kind) if f is not self.at]
        if not others:
            return
        begin, end = chain_begin(others[0]), chain_end(others[0])
        computation = self.at.parent
        if depends_on(self.at, end):
            token = element(end, 1) if self.kind == "infeed" else end
            computation.replace(self.input, token)
            self.input = begin.operands[_TOKEN[self.kind]]
        elif depends_on(begin, self.at):
            computation.replace_operand(begin, _TOKEN[self.kind], self.output)
            self.output = element(end, 1) if self.kind == "infeed" else end

    def rise(self) -> bool:
        """Pass the token to the caller; return False at the entry or if no token can pass."""
        computation = self.at.parent
        if self.at.opcode.name not in _TOKEN:
            self.join_chain()
        if computation.is_entry:
            return False
        [caller] = call_sites(computation.module)[computation]
        if caller.attributes.get("sharding"):
            return False
        if caller.opcode.name == "conditional":
            found = through_conditional(caller, computation, self.input, self.output)
        elif caller.opcode.name == "while" and computation is caller.called[1]:
            found = through_loop(caller, self.input, self.output)
        else:
            return False
        self.at, self.input, self.output = found
        return True


@register_pass()
@dataclasses.dataclass(frozen=True)
class InfeedTokenPropagation:
    """Thread the tokens of nested feeds through their callers, so that their order is explicit."""

    name: ClassVar[str] = "infeed-token-propagation"

    def run(self, module: HloModule, context: PassContext) -> bool:
        """Propagate the chains of infeeds, then those of outfeeds."""
        nested = [c for c in module.post_order_computations() if not c.is_entry]
        if any(i.opcode.name == "domain" for c in nested for i in c.instructions.values()):
            return False
        found = []
        for kind in _TOKEN:
            for computation in nested:
                dangling = [f for f in _feeds(computation, kind) if is_dangling(f)]
                found += dangling[:1]
        if not found:
            return False
        _require_one_caller(module, found)
        for feed in found:
            if is_dangling(feed) and context.decide(self.name, (), (), feed) is None:
                propagation = _Propagation(feed)
                context.rewrote(self.name, feed, propagation.output)
                while propagation.rise():
                    pass
        TupleSimplifier().run(module, context)
        DeadCodeElimination().run(module, context)
        return True


def _require_one_caller(module: HloModule, feeds: list[HloInstruction]) -> None:
    sites = call_sites(module)
    work = [f.parent for f in feeds]
    for computation in work:
        callers = sites.get(computation, [])
        if len(callers) > 1:
            raise XlaExplorerError(
                f"%{computation.name} has {len(callers)} callers, and infeed-token-propagation "
                "needs one",
                "run flatten-call-graph before",
            )
        work += [c.parent for c in callers if c.parent not in work]
