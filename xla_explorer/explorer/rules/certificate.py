"""The certificate of a compile: by which means each change of the module is known to be right.

A pass made of rules stands on the recorded proofs and checks of its rules' claims. Any other pass
is validated: its modules have one value graph, which holds for all arguments, or else their values
are compared on arguments. Everything but the recorded proofs is checked when the certificate is
made.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from xla_explorer.compiler.pipeline import PassStep
from xla_explorer.compiler.pipeline.value_check import ValueCheck, largest_error
from xla_explorer.compiler.pipeline.value_graph import NoValueGraphError, ValueNumbers
from xla_explorer.compiler.rewriting.declared import declared_rules
from xla_explorer.compiler.rewriting.recorded_claims import recorded_claims
from xla_explorer.compiler.rewriting.recorded_proofs import recorded_proofs
from xla_explorer.explorer.display.blocks import Blocks, Sentence, Table
from xla_explorer.explorer.display.frames import wide_frame
from xla_explorer.explorer.display.quantities import number_of
from xla_explorer.explorer.display.report import Report
from xla_explorer.explorer.sessions.arguments import random_arguments
from xla_explorer.explorer.sessions.compilation import Compilation, program_steps
from xla_explorer.explorer.sessions.isolation import as_one_run
from xla_explorer.explorer.tables.rows import TIERS, CertificateRow, columns_of
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.journal import Event
from xla_explorer.hlo.analysis.cost import module_cost
from xla_explorer.hlo.module import HloModule, ModuleSnapshot

if TYPE_CHECKING:
    import pandas

PROVED, EXHAUSTIVE, SAMPLED, COMPARED, OPEN, REFUTED = TIERS

_OWN_PASSES = "xla_explorer.compiler."
_LEAST_SECONDS = 1.0
_EVALUATED_PER_SECOND = 1e10
"""Operations and bytes of the evaluator, to see before a run that the time does not suffice."""


class Certificate(Report):
    """The result of `session.certificate`.

    Attributes
    ----------
    rows : tuple of CertificateRow
        A row for each rule of a pass made of rules, for each other pass that changed the module,
        and for the generated code.
    seconds : float
        The time of the checks.
    compile_seconds : float
        The time of the compile.
    """

    def __init__(
        self, rows: Sequence[CertificateRow], seconds: float, compile_seconds: float
    ) -> None:
        self.rows, self.seconds, self.compile_seconds = tuple(rows), seconds, compile_seconds

    @property
    def tiers(self) -> dict[str, int]:
        """The number of rows of each tier, the strongest first."""
        counts = Counter([row.tier for row in self.rows])
        return {tier: counts[tier] for tier in TIERS if counts[tier]}

    @property
    def weakest(self) -> str:
        """The weakest tier of all rows; `proved` if the compile changed nothing."""
        return max([row.tier for row in self.rows], key=TIERS.index, default=PROVED)

    def to_frame(self) -> pandas.DataFrame:
        """Return the rows as a DataFrame."""
        return wide_frame(self.rows, columns_of(CertificateRow))

    def blocks(self) -> Blocks:
        """Yield the counts of the tiers, and the rows, the weakest first."""
        counted = ", ".join([f"{count} {tier}" for tier, count in self.tiers.items()])
        yield Sentence(
            f"{number_of(len(self.rows), 'kind')} of changes: {counted or 'none'}; checked in "
            f"{self.seconds:.2g} s (the compile took {self.compile_seconds:.2g} s)"
        )
        ordered = sorted(self.rows, key=lambda row: -TIERS.index(row.tier))
        if ordered:
            yield Table(columns_of(CertificateRow), [tuple(row) for row in ordered], "changes")


class _Values:
    """The comparison of modules by value, within a limit of seconds for all of them."""

    def __init__(self, session: Compilation, limit: float) -> None:
        self._session, self._left = session, limit
        self._check: ValueCheck | None = None
        self._longest = 0.0

    def _too_long(self) -> str:
        """Return why the time does not suffice for one more evaluation, or ""."""
        seconds = self._longest
        if self._check is None:
            cost = module_cost(self._session.source)
            seconds = 2 * (cost.flops + cost.bytes_accessed) / _EVALUATED_PER_SECOND
        if self._left > 0 and seconds <= self._left:
            return ""
        return (
            f"values not compared: a comparison takes about {seconds:.2g} s, and "
            f"{max(0.0, self._left):.2g} s are left; raise seconds="
        )

    def module(self, snapshot: ModuleSnapshot) -> tuple[str, str]:
        """Return tier and evidence of a module after a pass."""
        return self._compared(
            lambda check: check.compare(HloModule.from_snapshot(snapshot)), "the evaluator"
        )

    def code(self) -> tuple[str, str]:
        """Return tier and evidence of the generated code."""
        run = self._session.executable.execute
        return self._compared(
            lambda check: (*largest_error(check.reference, run(check.leaves)), ""), "the program"
        )

    def _compared(self, compare: Any, what: str) -> tuple[str, str]:
        late = self._too_long()
        if late:
            return OPEN, late
        started = time.perf_counter()
        try:
            if self._check is None:
                arguments = random_arguments(self._session.source)
                leaves = self._session.signature.leaves(list(arguments))
                self._check = ValueCheck(self._session.source, leaves)
            error, fine, problem = compare(self._check)
        except (TimeoutError, MemoryError):  # of the whole call
            raise
        except XlaExplorerError as failed:
            return OPEN, f"values not compared: {failed.message}"
        finally:
            seconds = time.perf_counter() - started
            self._left -= seconds
            self._longest = max(self._longest, seconds)
        if not fine:
            return REFUTED, f"values differ: {problem or f'the largest error is {error:.2g}'}"
        return COMPARED, f"{what} agrees on random arguments, largest error {error:.2g}"


class _Graphs:
    """Value graphs of the modules of a compile. A pass begins with the module of the last one."""

    def __init__(self) -> None:
        self._numbers = ValueNumbers()
        self._last: tuple[ModuleSnapshot, tuple[object, ...]] | None = None

    def of(self, snapshot: ModuleSnapshot) -> tuple[object, ...]:
        """Return the graph of a module; NoValueGraphError if it has effects beside its result."""
        if self._last is not None and self._last[0] is snapshot:
            return self._last[1]
        module = HloModule.from_snapshot(snapshot)
        try:
            found = self._numbers.graph(module)
        finally:
            module.dispose()
        self._last = snapshot, found
        return found


@as_one_run
def certify(session: Compilation, seconds: float | None) -> Certificate:
    """Return the certificate of a compile; values are compared for at most `seconds`."""
    trace = session.passes.record
    if trace.initial is None:
        raise XlaExplorerError(
            "the passes have no snapshots to compare", 'compile with journal="passes" or more'
        )
    compile_seconds = sum(session.seconds.values())
    started = time.perf_counter()
    limit = max(compile_seconds, _LEAST_SECONDS) if seconds is None else seconds
    graphs, values = _Graphs(), _Values(session, limit)
    rows = [
        row
        for step in trace.steps
        if step.changed and step.after is not None and step.after is not step.before
        for row in _step_rows(step, session, graphs, values)
    ]
    if session.error is None and program_steps(session):
        rows.append(CertificateRow(None, session.backend, "", 1, "", *values.code()))
    return Certificate(rows, time.perf_counter() - started, compile_seconds)


def _step_rows(
    step: PassStep, session: Compilation, graphs: _Graphs, values: _Values
) -> Iterator[CertificateRow]:
    rewrites = [e for e in session.passes[step.number].events if e.is_rewrite and e.acted]
    if rewrites and _is_made_of_rules(step):
        types = _types(step)
        for name, events in _by_rule(rewrites).items():
            yield _rule_row(step, name, events, types, values)
        return
    evidence = _validated(step, graphs, values)
    yield CertificateRow(step.number, step.name, "", step.actions or 1, "", *evidence)


def _is_made_of_rules(step: PassStep) -> bool:
    """Return True if the pass does nothing but apply rules of the package.

    A pass of somebody else may change more, or have another rule of the same name.
    """
    module = type(step.hlo_pass).__module__
    return module.startswith(_OWN_PASSES) and hasattr(step.hlo_pass, "rules")


def _by_rule(rewrites: Sequence[Event]) -> dict[str, list[Event]]:
    found: dict[str, list[Event]] = {}
    for event in rewrites:
        found.setdefault(event.by, []).append(event)
    return found


def _validated(step: PassStep, graphs: _Graphs, values: _Values) -> tuple[str, str]:
    """Return tier and evidence of a pass by its modules before and after."""
    assert step.before is not None and step.after is not None
    why = ""
    try:
        if graphs.of(step.before) == graphs.of(step.after):
            return PROVED, "the value graph is the same: all values are equal for all arguments"
    except NoValueGraphError as problem:
        why = f" ({problem})"
    tier, evidence = values.module(step.after)
    return tier, evidence + why


def _rule_row(
    step: PassStep,
    name: str,
    events: Sequence[Event],
    types: Mapping[int, frozenset[str]],
    values: _Values,
) -> CertificateRow:
    """Return the row of a rule: by its recorded proof or check, else by the values of the pass."""
    rule = declared_rules().get(name)
    claim = str(rule.exactness) if rule is not None else ""
    found = _recorded(name, claim, _rewritten(events, types))
    if found is None:
        assert step.after is not None
        found = values.module(step.after)
    return CertificateRow(step.number, step.name, name, len(events), claim, *found)


def _types(step: PassStep) -> dict[int, frozenset[str]]:
    """Return the element types of each instruction of both modules with its operands, by id."""
    assert step.before is not None and step.after is not None
    found: dict[int, frozenset[str]] = {}
    for snapshot in (step.before, step.after):
        own = {
            record.id: frozenset([
                leaf.element_type.name for _, leaf in record.shape.leaves() if leaf.is_array
            ])
            for record in snapshot.records()
        }  # fmt: skip
        for record in snapshot.records():
            arrays = [own[o] for o in record.operands if len(own[o]) == 1]
            found.setdefault(record.id, own[record.id].union(*arrays))
    return found


def _rewritten(
    events: Sequence[Event], types: Mapping[int, frozenset[str]]
) -> frozenset[frozenset[str]]:
    """Return the element types of each rewritten instruction.

    An instruction that the pass made and removed is in no snapshot: then all types of the modules.
    `pred` is left out beside other types: comparisons return it.
    """
    every = frozenset().union(*types.values())
    known = [
        next((types[subject] for subject in event.subjects if subject in types), every)
        for event in events
    ]
    return frozenset([one - {"pred"} or one for one in known])


def _recorded(name: str, claim: str, types: frozenset[frozenset[str]]) -> tuple[str, str] | None:
    """Return tier and evidence by the recorded tables for these element types, or None."""
    proof, check = recorded_proofs().get(name), recorded_claims().get(name)
    if proof is not None and proof.claim == claim:
        proved = {frozenset(kinds.split(" to ")) for kinds in (*proof.types, *proof.real_types)}
        if proof.outcome == PROVED or types <= proved:
            return PROVED, str(proof)
    if check is None or check.claim != claim:
        return None
    tried = {*check.complete, *(proof.tried if proof is not None else ())}
    return EXHAUSTIVE if frozenset().union(*types) <= tried else SAMPLED, str(check)
