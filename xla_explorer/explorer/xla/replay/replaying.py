"""`xe.xla.replay`: XLA's own decisions, made again by our policies on the modules that XLA's passes were given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final, NamedTuple

from xla_explorer.backends.xla.dumped_compile import FUSION_POLICIES
from xla_explorer.explorer.sessions.compilation import Compilation, NotThereError
from xla_explorer.explorer.sessions.passes import RecordedPass, RecordedPasses
from xla_explorer.explorer.xla.replay import (
    layout,
    library,
    multi_output,
    rematerialisation,
    simplifier,
)
from xla_explorer.explorer.xla.replay.buffers import replayed_buffers
from xla_explorer.explorer.xla.replay.fusion import ReplayedFusion, replayed_fusion
from xla_explorer.explorer.xla.replay.layout import replayed_layouts
from xla_explorer.explorer.xla.replay.library import replayed_library
from xla_explorer.explorer.xla.replay.multi_output import replayed_multi_output
from xla_explorer.explorer.xla.replay.rematerialisation import replayed_rematerialisation
from xla_explorer.explorer.xla.replay.report import Replay
from xla_explorer.explorer.xla.replay.schedule import replayed_schedule
from xla_explorer.foundation.decision import Decision
from xla_explorer.foundation.kept import kept
from xla_explorer.frontends.xla_dump import fusion_verdicts

_GPU_PASS: Final = "priority-fusion"
_GPU_VERDICTS: Final = "priority_fusion_dump"


def _fusion(session: Compilation) -> ReplayedFusion:
    step = _passes(session, *FUSION_POLICIES)[0]
    own = session.stages().get(_GPU_VERDICTS)
    return replayed_fusion(
        step, _makers(session, step), fusion_verdicts(own.text) if own is not None else None
    )


def _of_a_cpu(session: Compilation) -> Compilation:
    """The session.

    NotThereError where XLA:GPU compiled it, which assigns and orders by other rules.
    """
    if any(step.name == _GPU_PASS for step in session.passes):
        raise NotThereError(
            "the buffers and the order of XLA:GPU are not replayed",
            "xe.xla.replay(session, 'fusion') replays its fusions",
        )
    return session


KINDS: Final[Mapping[str, Callable[[Compilation], Replay]]] = {
    "fusion": _fusion,
    "dot-library": lambda session: replayed_library(_passes(session, library.PASS)[0]),
    "layout": lambda session: replayed_layouts(_passes(session, layout.PASS)[0]),
    "simplifier": lambda session: simplifier.replayed_simplifier(_passes(session, simplifier.PASS)),
    "buffers": lambda session: replayed_buffers(_of_a_cpu(session)),
    "schedule": lambda session: replayed_schedule(_of_a_cpu(session)),
    "multi-output-fusion": lambda session: replayed_multi_output(
        _passes(session, multi_output.PASS)[0]
    ),
    "rematerialization": lambda session: replayed_rematerialisation(
        session, _passes(session, rematerialisation.PASS)[0]
    ),
}
"""Kind of replay -> what makes it."""
WEIGHED: Final = ("fusion", "multi-output-fusion", "dot-library", "layout")
"""The kinds of which each row was weighed and has a reason; the others say where and when, of everything."""


class ReplayedRules(NamedTuple):
    """Our rules on the module of one of XLA's passes.

    also: instruction that they rewrote -> whether XLA rewrote it too.
    """

    passes: RecordedPasses[RecordedPass]
    also: dict[str, bool]


MOST_REPLAYED: Final = 3000  # instructions of a module of which the rules are shown one by one


def replay(session: Compilation, kind: str = "fusion") -> Replay:
    """Make XLA's decisions again by our policy, on the module that XLA's pass was given, and hold them to what XLA did.

    Parameters
    ----------
    session
        Of `backend="xla"`, or of a dump with every pass (`xe.load(folder)`; its main program).
    kind
        `fusion`: what XLA:CPU and XLA:GPU put into one kernel. `dot-library`: what XLA:CPU gives to
        its library of kernels (YNNPACK), and what those kernels take in. `layout`: in which order
        XLA:CPU lays arrays out, and where it copies one into another. `simplifier`: what XLA's
        algebraic simplifier rewrote, and by which of our rules. `buffers`: in which allocation
        XLA:CPU put each value, and at which byte of the temporary one. `schedule`: in which order
        XLA:CPU runs what it has fused. `multi-output-fusion`: which kernels XLA:GPU made one with
        several results. `rematerialization`: what XLA:GPU computes again since memory is short.

    Returns
    -------
    Replay
        A row a decision: ours, its reason, what XLA did, whether they agree; `agreement` is the
        share that does.

    Raises
    ------
    NotThereError
        XLA's dump has no such pass: it changed nothing, or the dump has not every pass.
    ValueError
        There is no such kind.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> session = xe.compile(xe.example("attention"), backend="xla")  # doctest: +SKIP
    >>> xe.xla.replay(session, "fusion").agreement  # doctest: +SKIP
    1.0
    """
    if kind not in KINDS:
        raise ValueError(f"xe.xla has no replay {kind!r}: choose from {', '.join(KINDS)}")
    return _replayed(main_program(session), kind)


def replay_fusion(session: Compilation) -> ReplayedFusion:
    """Say of each producer and consumer whether XLA fused them, and why not: `xe.xla.replay(session, "fusion")`.

    Parameters
    ----------
    session
        Of `backend="xla"`, or of a dump with every pass.

    Returns
    -------
    ReplayedFusion
        Each edge with what both did, and the reason of each refusal.

    Raises
    ------
    NotThereError
        XLA's dump has no pass `fusion`: it changed nothing, or the dump has not every pass.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> session = xe.compile(xe.example("attention"), backend="xla")  # doctest: +SKIP
    >>> xe.xla.replay_fusion(session).agreement  # doctest: +SKIP
    1.0
    """
    found = _replayed(main_program(session), "fusion")
    assert isinstance(found, ReplayedFusion)
    return found


def replayed_decisions(session: Compilation, kind: str | None) -> list[Decision]:
    """XLA's decisions of a session of real XLA or of a dump, of a kind or of all that were weighed; what the dump lacks is left out."""
    found: list[Decision] = []
    for name in WEIGHED if kind is None else (kind,) if kind in KINDS else ():
        with suppress(NotThereError):
            found += _replayed(session, name).decisions()
    return found


@kept
def rules_replayed(session: Compilation, number: int) -> ReplayedRules | None:
    """Our rules where XLA's simplifier ran as a pass of that number; None for other passes, and of a module that is large."""
    step = session.passes[number]
    if step.name != simplifier.PASS or step.instructions_before > MOST_REPLAYED:
        return None
    ours = simplifier.replayed_rules(step)
    return ReplayedRules(ours, simplifier.agreement_by_name(step, ours))


@kept
def _replayed(session: Compilation, kind: str) -> Replay:
    """A replay of a session, made once: a dump does not change."""
    return KINDS[kind](session)


def main_program(session: Compilation) -> Compilation:
    """The session itself, or the main program of a dump."""
    return session.session() if not isinstance(session, Compilation) else session


def _passes(session: Compilation, *names: str) -> list[RecordedPass]:
    """XLA's passes with one of the names, at least one."""
    found = [step for step in session.passes if step.name in names]
    if not found:
        hint = "dump with --xla_dump_hlo_pass_re=.*; a pass that changed nothing is left out"
        raise NotThereError(f"XLA's pass {' or '.join(names)} is not in the dump", hint)
    return found


def _makers(session: Compilation, until: RecordedPass) -> dict[str, str]:
    """Name of a fusion -> the pass that made it, of those before one of XLA's passes."""
    before = reversed(session.passes[1 : until.number])
    return {
        record.name: step.name
        for step in before
        for record in step.snapshot.records()
        if record.opcode.name == "fusion"
    }
