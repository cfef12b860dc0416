"""Progress in a notebook is one output that empties, not the error stream."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from xla_explorer.explorer.sessions import progress


def test_progress_is_one_output_that_empties(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[str] = []

    def display(bundle: dict[str, str], **_options: Any) -> SimpleNamespace:
        seen.append(bundle["text/plain"])
        return SimpleNamespace(update=lambda bundle, **_options: seen.append(bundle["text/plain"]))

    ipython = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=1), display=SimpleNamespace(display=display))
    monkeypatch.setitem(progress.sys.modules, "IPython", ipython)  # type: ignore[attr-defined]
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    monkeypatch.setattr(progress, "_PACE", 0.02)
    with progress.working("long"):
        time.sleep(0.3)
    assert seen[0] == "long: 0 s" and seen[-1] == "" and capsys.readouterr().err == ""
