"""Write `notebooks/fusion_reasons.md`.

`python tests/compiler/decisions/reason_page.py`
"""

from __future__ import annotations

import pathlib

from xla_explorer.compiler.decisions.answer_reasons import (
    ANSWERS,
    COSTS,
    OVERRIDES,
    REPLAYS,
    USER,
    XLA_OVERRIDES,
)
from xla_explorer.compiler.decisions.kinds import KINDS
from xla_explorer.compiler.decisions.reason_code import ReasonTable

PAGE = pathlib.Path(__file__).resolve().parents[3] / "notebooks" / "fusion_reasons.md"
_HEAD = """# Why not: the codes of all decisions

A refusal of a pass, of a rewrite rule or of code generation has one of these codes, a sentence with names and numbers, and the numbers as
facts. `session.why_not(kind, *instructions)` asks and quotes this page; `session.decisions(kind)` lists. The codes of some kinds speak for
what was done. The page is made from `xla_explorer/compiler/decisions` by `tests/compiler/decisions/reason_page.py`; tests hold that no
code is missing and none is idle.
"""


def page() -> str:
    """Return the page as markdown."""
    lines, seen = [_HEAD], dict[int, str]()
    for kind, row in KINDS.items():
        lines += [f"## {kind}", "", row.question, ""]
        if id(row.reasons) in seen:
            lines += [
                f"The codes are those of [{seen[id(row.reasons)]}](#{seen[id(row.reasons)]}).",
                "",
            ]
        elif row.reasons:
            lines += _table(row.reasons)
        else:
            lines += ["Recorded where it is done; never refused.", ""]
        seen.setdefault(id(row.reasons), kind)
    lines += [
        "## any decision",
        "",
        "What the user's overrides do (`session.override`), to decisions of every kind.",
        "",
        *_table(USER),
    ]
    lines += [
        "## answers",
        "",
        "What `why_not` says of what was never decided.",
        "",
        *_table(ANSWERS),
    ]
    lines += [
        "## overrides",
        "",
        "Why an override was not granted (`session.overrides`), besides the refusal itself.",
        "",
        *_table(OVERRIDES),
    ]
    lines += [
        "## replays",
        "",
        "Why two instructions stayed apart when real XLA fused (`xe.xla.replay_fusion`), besides our policy's refusals.",
        "",
        *_table(REPLAYS),
    ]
    lines += [
        "## overrides in real XLA",
        "",
        "Why `xe.xla.overrides` did not grant a request.",
        "",
        *_table(XLA_OVERRIDES),
    ]
    lines += [
        "## costs of refusals",
        "",
        "Why a refusal has no estimated cost.",
        "",
        *_table(COSTS),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _table(table: ReasonTable) -> list[str]:
    rows = [
        f"| `{code}` | {row.sentence} | {_cell(row.example)} | {_cell(row.remedy)} |"
        for code, row in table.items()
    ]
    return ["| code | what it means | example | remedy |", "|---|---|---|---|", *rows, ""]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("{...}", "`{...}`")


if __name__ == "__main__":
    PAGE.write_text(page())
