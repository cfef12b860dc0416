"""Progress in a notebook is one output that empties, not the error stream."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from tests.explorer.test_progress import until
from xla_explorer.explorer.sessions import progress
from xla_explorer.foundation.rounds import counting


def test_progress_is_one_output_that_empties(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[str] = []
    html: list[str] = []

    def display(bundle: dict[str, str], **_options: Any) -> SimpleNamespace:
        seen.append(bundle["text/plain"])
        html.append(bundle["text/html"])
        return SimpleNamespace(update=lambda bundle, **_options: seen.append(bundle["text/plain"]))

    shell = SimpleNamespace(
        kernel=1, config={"IPKernelApp": {"connection_file": "/run/kernel-12-ab.json"}}
    )
    ipython = SimpleNamespace(get_ipython=lambda: shell, display=SimpleNamespace(display=display))
    monkeypatch.setitem(progress.sys.modules, "IPython", ipython)  # type: ignore[attr-defined]
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    monkeypatch.setattr(progress, "_PACE", 0.02)
    with counting(9, "passes") as present:
        present.done = 2
        with progress.working("long"):
            assert until(lambda: seen != [])
    assert until(lambda: seen[-1] == "")
    assert (
        re.fullmatch(r"long: 2 of 9 passes, \d+ s", seen[0])
        and '<progress max="9" value="2">' in html[0]
    )
    assert "api/kernels/12-ab/interrupt" in html[0] and "cancel</button>" in html[0]
    assert capsys.readouterr().err == ""
