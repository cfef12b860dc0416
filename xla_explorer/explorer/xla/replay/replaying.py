"""`xe.xla.replay`: XLA's decisions, repeated by our policies on the modules before XLA's passes."""

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
from xla_explorer.foundation.keywords import explains_arguments
from xla_explorer.frontends.xla_dump import fusion_verdicts

_GPU_PASS: Final = "priority-fusion"
_GPU_VERDICTS: Final = "priority_fusion_dump"


def _fusion(session: Compilation) -> ReplayedFusion:
    step = _passes(session, *FUSION_POLICIES)[0]
    own = session.stages().get(_GPU_VERDICTS)
    return replayed_fusion(
        step, _makers(session, step), fusion_verdicts(own.text) if own is not None else None
    )


def _require_cpu(session: Compilation) -> Compilation:
    """Return the session.

    NotThereError if XLA:GPU compiled it, whose assignment and schedule have other rules.
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
    "buffers": lambda session: replayed_buffers(_require_cpu(session)),
    "schedule": lambda session: replayed_schedule(_require_cpu(session)),
    "multi-output-fusion": lambda session: replayed_multi_output(
        _passes(session, multi_output.PASS)[0]
    ),
    "rematerialization": lambda session: replayed_rematerialisation(
        session, _passes(session, rematerialisation.PASS)[0]
    ),
}
"""Kind of replay -> the function that makes it."""
WEIGHED: Final = ("fusion", "multi-output-fusion", "dot-library", "layout")
"""The kinds whose rows have a reason; the others list the place or order of every value."""


class ReplayedRules(NamedTuple):
    """Our rules on the module of one of XLA's passes.

    also: instruction that they rewrote -> whether XLA rewrote it too.
    """

    passes: RecordedPasses[RecordedPass]
    also: dict[str, bool]


MOST_REPLAYED: Final = 3000  # instructions of a module whose rules are shown one by one


@explains_arguments
def replay(session: Compilation, kind: str = "fusion") -> Replay:
    """Repeat XLA's decisions by our policy on XLA's own module, and compare the two.

    Parameters
    ----------
    session
        Of `backend="xla"`, or of a dump with every pass (`xe.load(folder)`; its main program).
    kind
        - `fusion`: instructions that XLA:CPU and XLA:GPU put into one kernel.
        - `dot-library`: dots and reductions that XLA:CPU gives to its kernel library (YNNPACK), and
          the neighbours that those kernels fuse.
        - `layout`: the layouts of XLA:CPU's arrays, and the copies between layouts.
        - `simplifier`: rewrites of XLA's algebraic simplifier, with our rule for each.
        - `buffers`: the allocation of each value of XLA:CPU, and its byte in the temporary one.
        - `schedule`: the order in which XLA:CPU runs its kernels.
        - `multi-output-fusion`: kernels that XLA:GPU fused into one with several results.
        - `rematerialization`: instructions that XLA:GPU computes again to save memory.

    Returns
    -------
    Replay
        A row for each decision: ours, its reason, XLA's, whether they agree; `agreement` is the
        share that does.

    Raises
    ------
    NotThereError
        XLA's dump lacks the pass: it changed nothing, or not every pass was dumped.
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


@explains_arguments
def replay_fusion(session: Compilation) -> ReplayedFusion:
    """Return whether XLA fused each producer and consumer, and the reason if not.

    The same as `xe.xla.replay(session, "fusion")`.

    Parameters
    ----------
    session
        Of `backend="xla"`, or of a dump with every pass.

    Returns
    -------
    ReplayedFusion
        Each edge with both verdicts, and the reason of each refusal.

    Raises
    ------
    NotThereError
        XLA's dump lacks the pass `fusion`: it changed nothing, or not every pass was dumped.

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
    """Return the replayed decisions of a session of real XLA, of one kind or all in `WEIGHED`.

    Decisions whose pass the dump lacks are left out.
    """
    found: list[Decision] = []
    for name in WEIGHED if kind is None else (kind,) if kind in KINDS else ():
        with suppress(NotThereError):
            found += _replayed(session, name).decisions()
    return found


@kept
def rules_replayed(session: Compilation, number: int) -> ReplayedRules | None:
    """Return our rules on the module of a simplifier pass; None for others, or large modules."""
    step = session.passes[number]
    if step.name != simplifier.PASS or step.instructions_before > MOST_REPLAYED:
        return None
    ours = simplifier.replayed_rules(step)
    return ReplayedRules(ours, simplifier.agreement_by_name(step, ours))


@kept
def _replayed(session: Compilation, kind: str) -> Replay:
    """Return a replay of a session, made once: a dump does not change."""
    return KINDS[kind](session)


def main_program(session: Compilation) -> Compilation:
    """Return the session itself, or the main program of a dump."""
    return session.session() if not isinstance(session, Compilation) else session


def _passes(session: Compilation, *names: str) -> list[RecordedPass]:
    """Return XLA's passes with one of the names, at least one."""
    found = [step for step in session.passes if step.name in names]
    if not found:
        hint = "dump with --xla_dump_hlo_pass_re=.*; a pass that changed nothing is left out"
        raise NotThereError(f"XLA's pass {' or '.join(names)} is not in the dump", hint)
    return found


def _makers(session: Compilation, until: RecordedPass) -> dict[str, str]:
    """Return the fusions made before one of XLA's passes, each with the pass that made it."""
    before = reversed(session.passes[1 : until.number])
    return {
        record.name: step.name
        for step in before
        for record in step.snapshot.records()
        if record.opcode.name == "fusion"
    }
