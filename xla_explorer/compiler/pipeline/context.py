"""The pass context: overrides of the user, recorded decisions, and the target.

Passes never write to the journal. They call `context.decide("fusion", LEGALITY, PROFITABILITY,
producer, consumer)`. The context runs the checks, applies the user's overrides, records the answer
with its facts, and returns it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from xla_explorer.compiler.decisions.kinds import FUSION_KINDS
from xla_explorer.compiler.target import UNSTATED, Target
from xla_explorer.foundation.journal import Event, Journal, Level
from xla_explorer.foundation.reason import (
    Check,
    Predicate,
    Reason,
    checklist,
    first_refusal,
    refuse,
    settled,
)
from xla_explorer.hlo.instruction import HloInstruction
from xla_explorer.hlo.opcodes import FUSION


class StopRequestedError(Exception):
    """Raised inside a pass after the event at which the user stops the run."""


# Multi-output kinds of fusion: the order of the two names in an override is free.
_OF_EQUALS = frozenset(FUSION_KINDS[1:])
_CLONED = re.compile(r"(\.clone(\.\d+)?)+\Z")


class PassControl:
    """The overrides of a user.

    force, forbid: per decision kind, sets of name (or id) pairs; those of `fusion` hold for every
    kind in FUSION_KINDS.
    skipped_rules: rules, merges (`merge-equal`, `remove-dead`) and kinds of decision that must not
    act.
    rewrite_limit: the number of actions (rewrites of rules, merges and positive decisions) after
    which nothing acts; passes that a backend requires still run.
    check_values: leaves of the arguments. After each pass that changed the module, its value on
    them must equal the value of the module as written.
    on_pass: called with the name of each pass before it runs.
    """

    __slots__ = (
        "_apart",
        "_found",
        "check_values",
        "forbid",
        "force",
        "on_pass",
        "rewrite_limit",
        "skipped_rules",
        "timed",
    )

    def __init__(
        self,
        force: Mapping[str, Iterable[tuple[Any, ...]]] | None = None,
        forbid: Mapping[str, Iterable[tuple[Any, ...]]] | None = None,
        skipped_rules: Iterable[str] = (),
        rewrite_limit: int | None = None,
        check_values: Sequence[Any] | None = None,
    ) -> None:
        self.force = {
            kind: {self._normal(key) for key in keys} for kind, keys in (force or {}).items()
        }
        self.forbid = {
            kind: {self._normal(key) for key in keys} for kind, keys in (forbid or {}).items()
        }
        self.skipped_rules = frozenset(skipped_rules)
        self.rewrite_limit = rewrite_limit
        self.check_values = check_values
        self.on_pass: Callable[[str], None] | None = None
        self.timed: Callable[[Any], Any] | None = None
        # Results of thousands of queries, computed at the first query: overrides by the names in
        # them.
        self._found: dict[tuple[bool, str], tuple[frozenset[tuple[Any, ...]], Pairs]] = {}
        self._apart: Pairs | None = None

    @staticmethod
    def _normal(key: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple([part.lstrip("%") if isinstance(part, str) else part for part in key])

    def forced(self, kind: str, subjects: tuple[HloInstruction, ...]) -> bool:
        """Return True if the user forces this decision, regardless of profitability."""
        return self._listed(True, kind, subjects)

    def forbidden(self, kind: str, subjects: tuple[HloInstruction, ...]) -> bool:
        """Return True if the user forbids this decision."""
        return self._listed(False, kind, subjects)

    def values_of(self, word: str, kind: str, subject: HloInstruction) -> list[tuple[Any, ...]]:
        """Return the values that overrides of a kind give to `subject`, such as a kernel's emitter.

        word: `force` or `forbid`.
        """
        keys = (self.force if word == "force" else self.forbid).get(kind, ())
        return sorted(
            [key[1:] for key in keys if key and key[0] in (subject.name, subject.id)], key=str
        )

    def kept_apart(
        self, left: Iterable[HloInstruction], right: Iterable[HloInstruction]
    ) -> tuple[Any, ...] | None:
        """Return a pair, one part on each side, that an override keeps in two kernels, or None."""
        return self.apart.between(_names(left), _names(right)) if self.apart.partners else None

    @property
    def apart(self) -> Pairs:
        """The pairs that the user forbids to share a kernel."""
        if self._apart is None:
            self._apart = Pairs([key for kind in FUSION_KINDS for key in self.forbid.get(kind, ())])
        return self._apart

    def _listed(self, forced: bool, kind: str, subjects: tuple[HloInstruction, ...]) -> bool:
        """Return True if an override names the subjects, or instructions that they have fused.

        The order of the names does not matter for kinds whose subjects are equals.
        """
        found = self._found.get((forced, kind))
        if found is None:
            overrides = self.force if forced else self.forbid
            all_keys = {
                *overrides.get(kind, ()),
                *(overrides.get(FUSION_KINDS[0], ()) if kind in _OF_EQUALS else ()),
            }
            found = self._found[forced, kind] = frozenset(all_keys), Pairs(all_keys)
        keys, pairs = found
        if not keys:
            return False
        if tuple([s.name for s in subjects]) in keys or tuple([s.id for s in subjects]) in keys:
            return True
        if kind not in _OF_EQUALS and all(s.opcode is not FUSION for s in subjects):
            return False
        if len(subjects) == 2:
            first, second = _names(subjects[:1]), _names(subjects[1:])
            key = pairs.between(first, second)
            return key is not None and (kind in _OF_EQUALS or pairs.in_order(first, second))
        orders = [[_names((s,)) for s in subjects]]
        if kind in _OF_EQUALS:
            orders.append(orders[0][::-1])
        return any(
            len(key) == len(bearers)
            and all(part in names for part, names in zip(key, bearers, strict=True))
            for key in keys
            for bearers in orders
        )


class Pairs:
    """Pairs, found by either of their parts. partners: the other parts of each part's pairs."""

    __slots__ = ("keys", "partners")

    def __init__(self, keys: Iterable[tuple[Any, ...]]) -> None:
        self.keys = frozenset([key for key in keys if len(key) == 2])
        self.partners: dict[Any, set[Any]] = {}
        for first, second in self.keys:
            self.partners.setdefault(first, set()).add(second)
            self.partners.setdefault(second, set()).add(first)

    def between(self, left: set[str | int], right: set[str | int]) -> tuple[Any, ...] | None:
        """Return a pair with one part in each set, ordered as in the override, or None."""
        if len(left) > len(right):
            left, right = right, left
        for part in left:
            for other in self.partners.get(part, ()):
                if other in right:
                    return (part, other) if (part, other) in self.keys else (other, part)
        return None

    def in_order(self, first: set[str | int], second: set[str | int]) -> bool:
        """Return True if a pair starts in the first set and ends in the second."""
        return any(
            (part, other) in self.keys
            for part in first
            for other in self.partners.get(part, ())
            if other in second
        )


def _names(instructions: Iterable[HloInstruction]) -> set[str | int]:
    """Return names and ids of the instructions and of fused ones.

    A clone has its original's name too.
    """
    found: set[str | int] = set()
    for i in instructions:
        for one in (i, *i.called[0].instructions.values()) if i.opcode is FUSION else (i,):
            found.update((one.name, one.id))
            if ".clone" in one.name:
                found.add(_CLONED.sub("", one.name))
    return found


class PassContext:
    """The context of a pass.

    journal: None when off. target: the machine that the program is for. acting: the pass or rule at
    work, for the events of the graph's listener; set by the drivers. rewrites: number of rules that
    fired. actions: number of rewrites and positive decisions.
    """

    __slots__ = (
        "acting",
        "actions",
        "checklists",
        "control",
        "decisions_on",
        "everything_on",
        "journal",
        "rewrites",
        "target",
    )

    def __init__(
        self,
        journal: Journal | None = None,
        control: PassControl | None = None,
        target: Target | None = None,
    ) -> None:
        self.journal = journal if journal is not None and journal.level > Level.OFF else None
        self.control = control or PassControl()
        self.target = UNSTATED if target is None else target
        self.decisions_on = self.journal is not None and self.journal.level >= Level.DECISIONS
        self.everything_on = self.journal is not None and self.journal.level >= Level.EVERYTHING
        self.rewrites = 0
        self.actions = 0
        self.acting = ""
        # record every decision with all its checks, for a pass that runs again
        self.checklists = False

    def decide(
        self,
        kind: str,
        legality: Iterable[Predicate],
        profitability: Iterable[Predicate],
        *subjects: HloInstruction,
        candidate: Any = None,
        facts: Callable[[], dict[str, Any]] | None = None,
    ) -> Reason | None:
        """Decide whether to go ahead, and record the answer: None is yes, a Reason is no.

        legality: must always hold; an override of the user skips profitability or refuses outright.
        candidate: the argument of the predicates, by default the subjects. facts: returns the
        numbers behind a yes; called only if the answer is recorded.
        """
        arguments = subjects if candidate is None else (candidate,)
        reason = first_refusal(legality, *arguments)
        forced = forceable = False
        if reason is None:
            reason = self._overridden(kind, subjects)
        if reason is None:
            forced = bool(self.control.force) and self.control.forced(kind, subjects)
            if not forced:
                reason = first_refusal(profitability, *arguments)
                forceable = reason is not None
        if reason is None:
            self.actions += 1
        if self.decisions_on:
            details = facts() if facts is not None else {}
            if forced:
                details["forced-by-user"] = True
            checks = (
                self._checklist(legality, profitability, arguments, reason)
                if self.checklists
                else ()
            )
            self._record(kind, subjects, reason, details, checks).forceable = forceable
        return reason

    def _overridden(self, kind: str, subjects: tuple[HloInstruction, ...]) -> Reason | None:
        """Return the refusal by an override of the user, or None."""
        control = self.control
        if control.rewrite_limit is not None or control.skipped_rules:
            if (reason := self._stopped(kind)) is not None:
                return reason
        if control.forbid and control.forbidden(kind, subjects):
            return refuse("forbidden-by-user", f"the user forbids this {kind}")
        return None

    def _record(
        self,
        kind: str,
        subjects: tuple[HloInstruction, ...],
        reason: Reason | None,
        details: dict[str, Any],
        checks: tuple[Check, ...],
    ) -> Event:
        """Write a decision to the journal."""
        assert self.journal is not None
        ids: tuple[int, ...]
        names: tuple[str, ...]
        if len(subjects) == 2:  # most decisions are about two
            first, second = subjects
            ids, names = (first.id, second.id), (first.name, second.name)
        else:
            ids, names = tuple([s.id for s in subjects]), tuple([s.name for s in subjects])
        return self.journal.write(
            "decision", kind, ids, names, reason, details, accepted=reason is None, checklist=checks
        )

    @staticmethod
    def _checklist(
        legality: Iterable[Predicate],
        profitability: Iterable[Predicate],
        arguments: tuple[Any, ...],
        reason: Reason | None,
    ) -> tuple[Check, ...]:
        """Return all checks of a decision, the user's refusal included."""
        found = checklist((*legality, *profitability), *arguments)
        if reason is not None and all(check.code != reason.code for check in found):
            found += checklist(
                (settled("user-allows-it", reason, lambda: f"override {reason.code}"),)
            )
        return found

    def may_rewrite(self, rule: str) -> bool:
        """Return True if a rule may fire: not skipped, and below the rewrite limit (bisection)."""
        control = self.control
        return (
            control.rewrite_limit is None or self.actions < control.rewrite_limit
        ) and rule not in control.skipped_rules

    def _stopped(self, kind: str) -> Reason | None:
        control = self.control
        if kind in control.skipped_rules:
            return refuse("skipped-by-user", f"the user skips every {kind}")
        if control.rewrite_limit is not None and self.actions >= control.rewrite_limit:
            return refuse(
                "stopped-by-user",
                f"the user stops after {control.rewrite_limit} actions",
                limit=control.rewrite_limit,
            )
        return None

    def rewrote(
        self,
        rule: str,
        subject: HloInstruction,
        result: HloInstruction | None,
        created: Iterable[int] = (),
        facts: dict[str, Any] | None = None,
    ) -> None:
        """Record that a rule fired."""
        self.rewrites += 1
        self.actions += 1
        if self.decisions_on:
            assert self.journal is not None
            subjects = (subject.id,) if result is None else (subject.id, result.id)
            names = (subject.name,) if result is None else (subject.name, result.name)
            details = dict(facts) if facts else {}
            made = tuple(created)
            if made:
                details["created"] = made
            self.journal.write(
                "rewrite", rule, subjects, names, None, details or None, accepted=True
            )

    def refused(self, rule: str, subject: HloInstruction, reason: Reason) -> None:
        """Record that a guard refused a rule that matched."""
        if self.decisions_on:
            assert self.journal is not None
            self.journal.write(
                "rewrite", rule, (subject.id,), (subject.name,), reason, accepted=False
            )
