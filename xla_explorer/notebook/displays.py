"""HTML forms of objects from the rooms below, which have none of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from xla_explorer.explorer.display import Blocks, CodeText, Sentence, Table, number_of

Form = tuple[str, Blocks]
"""Plain text, and the blocks of the HTML."""


def _module(module: Any) -> Form:
    return repr(module), [CodeText(module.to_text(), "hlo", "module.to_text()")]


def _computation(computation: Any) -> Form:
    lines = [str(i) for i in computation.instructions.values()]
    plain = f"<HloComputation %{computation.name}: {number_of(len(lines), 'instruction')}>"
    return plain, [CodeText("\n".join(lines), "hlo", "module.to_text()")]


def _instruction(instruction: Any) -> Form:
    code = CodeText(str(instruction), "hlo", "str(...)")
    return repr(code), [code]


def _stage(stage: Any) -> Form:
    if not stage.is_text:
        return f"<CompilationStage {stage.name}: {len(stage.data):,} bytes>", []
    code = CodeText(stage.text, stage.language, f"session.stage({stage.name!r}).text")
    return repr(code), [code]


def _pipeline(pipeline: Any) -> Form:
    def rows(steps: Any, path: str) -> Iterator[tuple[str, str]]:
        for step in steps:
            if hasattr(step, "steps"):
                yield from rows(
                    step.steps,
                    f"{path}/{step.name}"
                    + (" (until nothing changes)" if step.fixed_point else ""),
                )
            else:
                yield path, step.name

    found = list(rows(pipeline.steps, pipeline.name))
    table = Table(
        ["pipeline", "pass"],
        found,
        f"{pipeline.name}: {len(found)} pass{'' if len(found) == 1 else 'es'}",
    )
    return table.to_text(), [table]


def _journal(journal: Any) -> Form:
    columns = ["event", "kind", "by", "names", "reason"]
    rows = [
        (e.sequence, e.kind, e.by, ", ".join(e.names), e.reason.message if e.reason else "")
        for e in journal.events[:200]
    ]
    left = len(journal.events) - len(rows)
    return repr(journal), [
        Table(columns, rows, repr(journal)[1:-1], f"{left} more: journal.events" if left else "")
    ]


def _reason(reason: Any) -> Form:
    facts = [Table(["fact", "value"], list(reason.facts.items()))] if reason.facts else []
    return str(reason), [Sentence(str(reason)), *facts]


def bundle(form: Form) -> dict[str, str]:
    """Return the MIME bundle of a form."""
    plain, blocks = form
    html = "".join([block.to_html() for block in blocks])
    return {"text/plain": plain, "text/html": html} if html else {"text/plain": plain}


FORMS: dict[tuple[str, str], Callable[[Any], Form]] = {
    ("xla_explorer.hlo.module", "HloModule"): _module,
    ("xla_explorer.hlo.computation", "HloComputation"): _computation,
    ("xla_explorer.hlo.instruction", "HloInstruction"): _instruction,
    ("xla_explorer.backends.interfaces.stage", "CompilationStage"): _stage,
    ("xla_explorer.compiler.pipeline.pipeline", "PassPipeline"): _pipeline,
    ("xla_explorer.foundation.journal", "Journal"): _journal,
    ("xla_explorer.foundation.reason", "Reason"): _reason,
}


def register_displays(shell: Any) -> None:
    """Register these forms with an IPython shell, without imports."""
    formatter = shell.display_formatter.mimebundle_formatter
    for (module, name), form in FORMS.items():
        formatter.for_type_by_name(module, name, lambda thing, form=form: (bundle(form(thing)), {}))
