"""The change of one rewrite: the pass runs twice, stopped just before the rewrite and just after.

Both runs start from the same snapshot and make the same instructions with the same ids. The
difference of their results is therefore the one rewrite.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from xla_explorer.compiler.pipeline import PassContext, PassControl, PassPipeline, run_pipeline
from xla_explorer.compiler.rewriting.declared import declared_rules
from xla_explorer.explorer.display.code_pane import TextLine
from xla_explorer.explorer.pictures.module_picture import snapshot_picture
from xla_explorer.explorer.pictures.region import Region
from xla_explorer.explorer.questions.rewrite_rows import RewriteStep, RuleText
from xla_explorer.explorer.rules.rule_book import rule_book
from xla_explorer.foundation.journal import Event
from xla_explorer.hlo.module import HloModule, ModuleSnapshot, snapshot_difference
from xla_explorer.hlo.text import module_text_with_lines

if TYPE_CHECKING:
    from xla_explorer.compiler.pipeline import PassStep
    from xla_explorer.explorer.sessions.passes import RecordedPass, RecordedPasses

NODES = 14
"""The most instructions in a picture of the neighbourhood."""
LINES_AROUND = 2
MOST_CODE_LINES = 60


class RewriteReplay:
    """Runs passes of a trace again, stopped after a number of rewrites.

    The last eight results are cached: the state after a rewrite is that before the next.
    """

    def __init__(self, passes: RecordedPasses[RecordedPass]) -> None:
        self._record = passes.record
        self._after = lru_cache(maxsize=8)(self._run)

    def step(self, recorded: RecordedPass, event: Event) -> RewriteStep:
        """Return the change of one rewrite.

        ValueError if the event is none of the pass, or if the pass cannot be run again.
        """
        inside = recorded.events
        if recorded.step is None or event not in inside:
            raise ValueError(f"this rewrite is not one of {recorded.name}")
        number = len([e for e in inside[: inside.index(event)] if e.acted])
        before, after = self._after(recorded.step, number), self._after(recorded.step, number + 1)
        difference = snapshot_difference(before, after)
        old = [*event.subjects[:1], *difference.removed, *difference.changed]
        new = [*event.subjects[1:], *difference.added, *difference.changed]
        old_lines, new_lines = _changed_lines(_lines(before), _lines(after))
        return RewriteStep(
            old_lines,
            new_lines,
            snapshot_picture(before, Region(around=old, budget=NODES), title="before"),
            snapshot_picture(after, Region(around=new or old, budget=NODES), title="after"),
            tuple(difference.added),
            tuple(difference.removed),
            tuple(difference.changed),
        )

    def _run(self, row: PassStep, limit: int) -> ModuleSnapshot:
        if not hasattr(row.hlo_pass, "run"):
            raise ValueError(f"{row.name} was run by another compiler and cannot be run again here")
        given = self._record.control
        control = PassControl(given.force, given.forbid, given.skipped_rules, limit)
        alone = PassPipeline(row.name, (row.hlo_pass,))
        assert row.before is not None
        module = HloModule.from_snapshot(row.before)
        again = run_pipeline(
            module, alone, PassContext(None, control, self._record.target), snapshots=False
        )
        if again.error is not None:
            raise ValueError(f"{row.name} cannot be stopped after {limit} actions: {again.error}")
        return again.module.snapshot()


def _lines(snapshot: ModuleSnapshot) -> list[TextLine]:
    module = HloModule.from_snapshot(snapshot)
    text, where = module_text_with_lines(module)
    lines = [TextLine(line, where.get(number)) for number, line in enumerate(text.split("\n"), 1)]
    module.dispose()
    return lines


def _changed_lines(
    old: list[TextLine], new: list[TextLine]
) -> tuple[list[TextLine], list[TextLine]]:
    """Return the lines around each change, before and after; "…" separates the changes."""
    matcher = difflib.SequenceMatcher(
        None, [line.text for line in old], [line.text for line in new], autojunk=False
    )
    before: list[TextLine] = []
    after: list[TextLine] = []
    for group in matcher.get_grouped_opcodes(LINES_AROUND):
        if before:
            before.append(TextLine("…"))
            after.append(TextLine("…"))
        before += old[group[0][1] : group[-1][2]]
        after += new[group[0][3] : group[-1][4]]
    return before, after


def rule_texts(names: Iterable[str]) -> dict[str, RuleText]:
    """Return the rules among `names`, with their code."""
    book, found = rule_book(), {}
    for name in names:
        rule = declared_rules().get(name)
        if rule is None:
            continue
        try:
            code = inspect.getsource(rule.function).rstrip().split("\n")
        except OSError:
            code = []
        if len(code) > MOST_CODE_LINES:
            code = [*code[:MOST_CODE_LINES], f"# ... {len(code) - MOST_CODE_LINES} more lines"]
        found[name] = RuleText(*book[name], "\n".join(code))
    return found
