"""A saved page omits code that needs an expensive compile; the pane names the call for it."""

from __future__ import annotations

import pytest

import xla_explorer as xe
from xla_explorer.explorer.code import code_panes
from xla_explorer.explorer.page.payload import build_payload


def _chain(count: int) -> str:
    body = "".join(
        [f"  v{k + 1} = f32[8] {'add' if k % 2 else 'multiply'}(v{k}, v0)\n" for k in range(count)]
    )
    return f"HloModule chain\nENTRY e {{\n  v0 = f32[8] parameter(0)\n{body}  ROOT r = f32[8] abs(v{count})\n}}\n"


def _ptx(session: xe.Session, live: bool) -> dict[str, object]:
    panes = build_payload(session._explorer_source_(), complete=True, live=live)["panes"]
    return dict(next(pane for pane in panes if pane["name"] == "ptx"))


def test_ptx_of_a_module_that_is_not_small_waits_until_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(code_panes, "SMALL_FOR_PTX", 8)
    session = xe.compile(_chain(9), threads=1)
    saved = _ptx(session, live=False)
    assert not session.gpu_sessions and "session.ptx() makes it" in str(saved["lines"])
    assert _ptx(session, live=True)["lines"] is None and not session.gpu_sessions
    session.ptx()
    assert ".visible .entry" in str(_ptx(session, live=False)["lines"])


def test_ptx_of_a_small_module_is_always_there() -> None:
    assert ".visible .entry" in str(_ptx(xe.compile(_chain(5), threads=1), live=False)["lines"])


def test_the_static_form_leaves_out_what_the_page_does_not_make(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = xe.compile(_chain(5), threads=1)
    monkeypatch.setattr(code_panes, "MOST_LLVM_LINES_GENERATED", 1)
    assert "define" in session.to_html() and not session.stage("llvm-ir-optimized").is_made
