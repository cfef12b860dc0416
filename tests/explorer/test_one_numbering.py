"""Step 0 is the written module, passes are 1 to n, in every view.

Checked: `session.passes`, pictures, decisions, the page, the magics.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import xla_explorer as xe
from xla_explorer.compiler.pipeline.trace import UnknownStepError
from xla_explorer.explorer.session import Session

EXPLORER = Path(xe.__file__).parent


def test_every_face_of_step_k_shows_the_same_title(softmax: Session) -> None:
    source = softmax._explorer_source_()
    rows, frame = source.steps(), softmax.passes.to_frame()
    decided = softmax.decisions()
    assert len(rows) == len(softmax.passes) == len(frame) == len(softmax.passes.record.steps) + 1
    for k, p in enumerate(softmax.passes):
        assert p.number == rows[k].index == frame["step"][k] == k
        assert p.name == rows[k].name == frame["pass"][k]
        assert (
            p.title
            == p.graph().picture.title
            == source.picture(k).title
            == source.view().detail(k)["picture"]["title"]
        )
        assert p.title == f"softmax {'after ' + p.name if k else 'as written'}"
        assert set(decided[decided["step"] == k]["pass"]) <= {p.name}
        assert len(p.decisions()) == (decided["step"] == k).sum() == len(source.decisions(k))


def test_the_widget_opens_the_step_that_is_asked_for(softmax: Session) -> None:
    k = softmax.passes.named("algsimp").number
    assert xe.explore(softmax, step=k).step == k


def test_pass_zero_is_the_module_as_written(softmax: Session) -> None:
    written = softmax.passes[0]
    assert written.name == "as written" and not written.changed and written.seconds == 0
    assert written.module.to_text() == written.before.to_text() == softmax.source.to_text()
    assert not written.diff.added and not written.diff.removed and written.text_diff() == ""
    assert (
        softmax.passes[-1].module.to_text() == softmax.module.to_text()
        and softmax.passes.last == len(softmax.passes) - 1
    )


def test_a_pass_answers_for_itself(softmax: Session) -> None:
    p = softmax.passes.named("algsimp")
    assert p.changed and p.module.to_text() != p.before.to_text() and p.diff.removed
    assert p.text_diff().startswith("--- before algsimp") and p.text.startswith("HloModule softmax")
    assert [q.number for q in softmax.passes[1:3]] == [1, 2] and repr(p).startswith(
        f"<pass {p.number}, "
    )
    with pytest.raises(
        UnknownStepError, match=rf"no pass 999(.|\n)*0 \(as written\) to {softmax.passes.last}"
    ):
        softmax.passes[999]
    with pytest.raises(UnknownStepError, match=r"passes.named\('algsimp'\)"):
        softmax.passes["algsimp"]  # type: ignore[call-overload]
    with pytest.raises(UnknownStepError, match="ran not at all"):
        softmax.passes.named("nope")


def test_no_step_is_converted_by_hand() -> None:
    """A step plus or minus one is a second numbering."""
    found = []
    for room in ("explorer", "cli", "notebook"):
        for path in (EXPLORER / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if (
                    isinstance(node, ast.BinOp)
                    and isinstance(node.op, ast.Add | ast.Sub)
                    and ast.unparse(node.right) == "1"
                ):
                    if re.fullmatch(
                        r"(\w+\.)*(step|index|pass_number|where)", ast.unparse(node.left)
                    ):
                        found.append(f"{path.name}:{node.lineno}: {ast.unparse(node)}")
    assert not found, "\n".join(found)
