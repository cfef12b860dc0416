"""How objects from the rooms below show themselves in a notebook: those know nothing of HTML."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xla_explorer.explorer.display.display import CodeText, table_html, table_text
from xla_explorer.explorer.display.quantities import number_of

Bundle = dict[str, str]


def _module(module: Any) -> Bundle:
    shown = CodeText(module.to_text(), "hlo", "module.to_text()")._repr_mimebundle_()
    return {"text/plain": repr(module), "text/html": shown["text/html"]}


def _computation(computation: Any) -> Bundle:
    lines = [str(i) for i in computation.instructions.values()]
    html = CodeText("\n".join(lines), "hlo", "module.to_text()")._repr_mimebundle_()["text/html"]
    return {"text/plain": f"<HloComputation %{computation.name}: {number_of(len(lines), 'instruction')}>", "text/html": html}


def _instruction(instruction: Any) -> Bundle:
    return CodeText(str(instruction), "hlo", "str(...)")._repr_mimebundle_()


def _stage(stage: Any) -> Bundle:
    if not stage.is_text:
        return {"text/plain": f"<Stage {stage.name}: {len(stage.data):,} bytes>"}
    return CodeText(stage.text, stage.language, f"session.stage({stage.name!r}).text")._repr_mimebundle_()


def _pipeline(pipeline: Any) -> Bundle:
    rows: list[tuple[str, str]] = []

    def walk(steps: Any, path: str) -> None:
        for step in steps:
            if hasattr(step, "steps"):
                walk(step.steps, f"{path}/{step.name}" + (" (until nothing changes)" if step.fixed_point else ""))
            else:
                rows.append((path, step.name))

    walk(pipeline.steps, pipeline.name)
    title, columns = f"{pipeline.name}: {len(rows)} pass{'' if len(rows) == 1 else 'es'}", ["pipeline", "pass"]
    return {"text/plain": f"{title}\n{table_text(columns, rows)}", "text/html": table_html(title, columns, rows)}


def _journal(journal: Any) -> Bundle:
    columns = ["event", "kind", "by", "names", "why"]
    rows = [(e.sequence, e.kind, e.by, ", ".join(e.names), e.reason.message if e.reason else "") for e in journal.events[:200]]
    left = len(journal.events) - len(rows)
    note = f"{left} more: journal.events" if left else ""
    return {"text/plain": repr(journal), "text/html": table_html(repr(journal)[1:-1], columns, rows, note)}


def _reason(reason: Any) -> Bundle:
    facts = table_html("", ["fact", "value"], list(reason.facts.items())) if reason.facts else ""
    return {"text/plain": str(reason), "text/html": table_html("", ["code", "message"], [(reason.code, reason.message)]) + facts}


FORMS: dict[tuple[str, str], Callable[[Any], Bundle]] = {
    ("xla_explorer.hlo.module", "HloModule"): _module,
    ("xla_explorer.hlo.computation", "HloComputation"): _computation,
    ("xla_explorer.hlo.instruction", "HloInstruction"): _instruction,
    ("xla_explorer.backends.interfaces.stage", "Stage"): _stage,
    ("xla_explorer.compiler.pipeline.pipeline", "PassPipeline"): _pipeline,
    ("xla_explorer.foundation.journal", "Journal"): _journal,
    ("xla_explorer.foundation.reason", "Reason"): _reason,
}


def register_displays(shell: Any) -> None:
    """Teach an IPython shell these forms; nothing is imported for it."""
    formatter = shell.display_formatter.mimebundle_formatter
    for (module, name), form in FORMS.items():
        formatter.for_type_by_name(module, name, lambda thing, form=form: (form(thing), {}))
