"""The tools of an agent. The server and the skill are made from them.

Each function takes the workspace and typed parameters, and returns lines in order of importance.
"""

from __future__ import annotations

from typing import Literal

import pandas

import xla_explorer.explorer.real_xla  # noqa: F401  # it registers its questions
from xla_explorer.agents.budget import Part, Reply, rows_part, text_part
from xla_explorer.agents.folders import RefusedError
from xla_explorer.agents.registry import asked, head_of, parts_of, question_tool, tool
from xla_explorer.agents.workspace import Workspace
from xla_explorer.explorer.asking import Cost
from xla_explorer.explorer.comparisons.comparison import compare_sessions
from xla_explorer.explorer.comparisons.fusion_comparison import compare_fusions_of
from xla_explorer.explorer.comparisons.structural_difference import structural_diff
from xla_explorer.explorer.display import microseconds
from xla_explorer.explorer.measures.kernel_costs import program_cost
from xla_explorer.explorer.sameness.same import same as compared
from xla_explorer.explorer.session import Session
from xla_explorer.explorer.sessions.compilation import source_line

_KERNELS = ("kernel", "opcode", "computes", "runs_on", "calls", "predicted_us", "bytes_read",
            "bytes_written", "flops", "bound", "line", "reason")  # fmt: skip
_OVERVIEW = ("kernel", "computes", "calls", "predicted_us", "bytes", "bound", "line")
_DECISIONS = ("verdict", "kind", "subjects", "code", "cost_us", "message")


_NOTABLE = 0.002
"""The least price of a refusal in an overview, as a share of the run."""


@tool(Cost.INSTANT)
def files(work: Workspace) -> Reply:
    """List the files of modules below the folders of this server, the newest first."""
    rows = [f"{name} | {size} bytes" for name, size in work.folders.listed()]
    examples = ["example:attention", "example:mlp_train"]
    return Reply(
        f"{len(rows)} files below {len(work.folders.roots)} folders",
        [Part(rows), Part(examples)],
        [f'open(path="{(rows or examples)[0].partition(" |")[0]}")'],
    )


@tool(Cost.COMPILES)
def open_(
    work: Workspace,
    path: str = "",
    text: str = "",
    backend: Literal["cpu", "gpu", "interpreter", "xla"] = "cpu",
    passes: str = "default",
) -> Reply:
    """Compile a module and return its handle with an overview.

    A JAX program is opened by the text of `jax.jit(f).lower(*args).as_text()`, written to a file.
    """
    session = work.compiled(work.module(path, text), backend, passes)
    return _overview(work.add(session), session)


@tool(Cost.INSTANT)
def overview(work: Workspace, program: str) -> Reply:
    """Return size, predicted time, kernels by time, advice and numbers of decisions."""
    return _overview(program, work.program(program))


def _overview(key: str, session: Session) -> Reply:
    cost = program_cost(session.module, session.passes.record.target)
    kernels = session.kernels()
    decisions = session.decisions()
    head = (
        f"{key}: {session.source.name} on {session.backend}: "
        f"{session.source.instruction_count()} instructions as written, "
        f"{session.module.instruction_count()} after {session.passes.last} passes, "
        f"{len(kernels)} kernels, predicted {microseconds(cost.microseconds)}, "
        f"{int(cost.bytes_accessed)} bytes read and written a run"
    )
    counted = decisions.groupby(["kind", "verdict"]).size().sort_values(ascending=False)
    counts = [f"{kind} {verdict}: {n}" for (kind, verdict), n in counted.items()]
    notable = decisions["cost_us"] > _NOTABLE * cost.microseconds
    refused = decisions[(decisions["verdict"] == "refused") & notable]
    by_time = kernels.sort_values("predicted_us", ascending=False, kind="stable")
    parts = [
        text_part(str(session.explain()), "advice"),
        rows_part(by_time, _OVERVIEW, "kernels, the longest first"),
        rows_part(_by_cost(refused), _DECISIONS, "refused with a price"),
        Part([", ".join(counts)], "decisions"),
    ]
    hints = [
        f'risks(program="{key}") runs it and names NaN, lost digits, indices out of range',
        f'why(program="{key}", producer="%a", consumer="%b"); source(program="{key}", line=...)',
    ]
    return Reply(head, parts, hints)


def _by_cost(frame: pandas.DataFrame) -> pandas.DataFrame:
    if "cost_us" not in frame.columns:
        return frame
    return frame.sort_values("cost_us", ascending=False, na_position="last", kind="stable")


@tool(Cost.INSTANT)
def decisions(
    work: Workspace,
    program: str,
    kind: str = "",
    verdict: Literal["refused", "accepted", "all"] = "refused",
    about: str = "",
) -> Reply:
    """Return decisions of the compiler with reasons and prices, the most costly refusals first."""
    session = work.program(program)
    frame = session.decisions(kind or None)
    everything = len(frame)
    if verdict != "all":
        frame = frame[frame["verdict"] == verdict]
    if about:
        frame = frame[_is_about(session, frame, about)]
    kinds = ", ".join(sorted(set(session.decisions()["kind"])))
    note = frame.attrs.get("note", "") if not everything else ""
    head = f"{len(frame)} of {everything} decisions{f' of kind {kind}' if kind else ''}"
    hints = [f"kinds here: {kinds}"]
    if len(frame):
        subjects = list(frame.iloc[0]["subjects"])
        named = f', consumer="{subjects[-1]}"' if len(subjects) > 1 else ""
        which = frame.iloc[0]["kind"]
        hints.append(
            f'why(program="{program}", kind="{which}", producer="{subjects[0]}"{named}) has all '
            "conditions"
        )
    return Reply(head, [text_part(note), rows_part(_by_cost(frame), _DECISIONS)], hints)


def _is_about(session: Session, frame: pandas.DataFrame, about: str) -> list[bool]:
    """Return for each decision whether an instruction or a line is among its subjects."""
    name = f"%{about.removeprefix('%')}"
    if ":" not in about:
        session.passes.find(name)  # the error has near names
        return [name in subjects for subjects in frame["subjects"]]
    return [
        any(about in _line(session, subject) for subject in subjects)
        for subjects in frame["subjects"]
    ]


def _line(session: Session, name: str) -> str:
    try:
        return source_line(session, name)
    except (KeyError, ValueError):
        return ""


@tool(Cost.INSTANT)
def why(
    work: Workspace, program: str, producer: str, consumer: str = "", kind: str = "fusion"
) -> Reply:
    """Say whether two instructions were fused and why not: reason, price, every condition.

    With another kind, the reason of that decision.
    """
    session = work.program(program)
    if kind == "fusion" and not consumer:
        raise RefusedError(
            "why needs a consumer for a fusion",
            f'decisions(program="{program}", about="{producer}") lists the decisions of one',
        )
    subjects = [name for name in (producer, consumer) if name]
    answer = session.why_not(kind, *subjects)
    lines = str(answer).splitlines()
    first = [line for line in lines[1:] if not line.lstrip().startswith(("ok ", "-- "))]
    rest = [line for line in lines[1:] if line.lstrip().startswith(("ok ", "-- "))]
    hints = []
    if answer.refused and len(subjects) > 1:
        hints = [f'what_if(program="{program}", force=["{kind} {" ".join(subjects)}"])']
    where = [f"{name}: {line}" for name in subjects if (line := _line(session, name))]
    return Reply(
        lines[0],
        [Part(first), Part(where, "source lines"), Part(rest, "conditions that hold")],
        hints,
    )


@tool(Cost.COMPILES)
def what_if(
    work: Workspace,
    program: str,
    force: list[str] = [],  # noqa: B006 - read only; the schema shows it
    forbid: list[str] = [],  # noqa: B006
    skip_rules: list[str] = [],  # noqa: B006
    measure: bool = False,
) -> Reply:
    """Compile again with decisions forced or forbidden; return what was granted and the effect."""
    session = work.program(program)
    if measure:
        _may_run(work)
    other = session.override(
        force=[tuple(one.split()) for one in force],
        forbid=[tuple(one.split()) for one in forbid],
        skip_rules=skip_rules,
    )
    key = work.add(other)
    table = session.compare(other, repeats=5) if measure else compare_sessions(session, other)
    fusions = compare_fusions_of(session, other)
    parts = [
        text_part(str(other.overrides()), "overrides"),
        text_part(str(table), f"{program} beside {key}"),
        text_part(str(fusions), "fusions"),
    ]
    return Reply(f"{key}: {program} with other decisions", parts, [f'overview(program="{key}")'])


def _may_run(work: Workspace) -> None:
    if not work.limits.runs:
        raise RefusedError(
            "this server was started without runs", "xla-explorer mcp, without --no-run"
        )


@tool(Cost.INSTANT)
def source(work: Workspace, program: str, line: str) -> Reply:
    """Return the instructions of a source line or file, the kernels they are in, and decisions."""
    session = work.program(program)
    written = list(session.source.entry.instructions.values())
    mine = [i for i in written if line in source_line(session, i.id)]
    if not mine:
        known = sorted({place for i in written if (place := source_line(session, i.id))})
        return Reply(f"no instruction of {program} has the line {line}", [Part(known, "lines")])
    names = {f"%{i.name}" for i in mine}
    kernel_rows = session.kernels()
    frame = session.decisions()
    about = frame[[bool(names & set(subjects)) for subjects in frame["subjects"]]]
    lines = [f"{source_line(session, i.id)} | %{i.name} = {i.opcode.name} {i.shape}" for i in mine]
    parts = [
        rows_part(
            kernel_rows[[line in str(one) for one in kernel_rows["line"]]], _KERNELS, "kernels"
        ),
        rows_part(_by_cost(about[about["verdict"] == "refused"]), _DECISIONS, "refused"),
        Part(lines, "instructions as written"),
    ]
    return Reply(f"{len(mine)} instructions at {line}", parts)


@tool(Cost.INSTANT)
def diff(work: Workspace, program: str, other: str = "", step: int = 0) -> Reply:
    """Return how two programs differ; without another, what one pass (step) changed."""
    session = work.program(program)
    if other:
        right = work.program(other)
        parts = [
            text_part(str(compare_fusions_of(session, right)), "fusions"),
            text_part(str(structural_diff(session.module, right.module)), "structure"),
        ]
        return Reply(f"{program} beside {other}", parts)
    if not step:
        costs = session.passes.costs()
        columns = ("step", "pass", "instructions", "delta_instructions", "delta_bytes", "rewrites")
        return Reply(
            "the passes that changed the program",
            [rows_part(costs, columns)],
            [f'diff(program="{program}", step=...) has the text of one'],
        )
    recorded = session.passes[step]
    text = str(recorded.text_diff(1)) or "this pass changed nothing"
    return Reply(recorded.title, [text_part(text)])


@tool(Cost.RUNS)
def same(work: Workspace, program: str, other: str, claim: str = "real") -> Reply:
    """Compare the results of two programs on adversarial arguments; say where they differ."""
    _may_run(work)
    left, right = work.program(program), work.program(other)
    # Not by the evaluator in this process: a program may not end.
    reference = work.compiled(left.source, "interpreter", "none")
    verdict = compared(reference, right, claim=claim, seconds=min(30.0, work.limits.seconds))
    return Reply("", [text_part(verdict.to_text())])


@tool(Cost.INSTANT)
def ask(work: Workspace, program: str, call: str) -> Reply:
    """Ask any question of the registry; the resource xla-explorer://questions lists them."""
    reply = asked(work, work.program(program), call)
    return Reply(head_of(reply), parts_of(reply))


@tool(Cost.INSTANT)
def more(work: Workspace, handle: str) -> Reply:
    """Continue an answer that was cut."""
    return Reply("", work.rest(handle))


question_tool("kernels", "kernels", 'explain(program="{program}", instruction=...) has one')
question_tool("explain", "explain")
question_tool("values", "passes.value")
question_tool("loops", "loops")
question_tool("bisect", "bisect")
question_tool("search", "passes.search")
question_tool("risks", "xla.risks")
question_tool("profile_xla", "xla.why_slow")
