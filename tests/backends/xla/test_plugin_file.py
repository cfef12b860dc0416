"""`xla-explorer conform`: a right plugin passes, planted faults are found and minimised."""

from __future__ import annotations

import pytest

from xla_explorer.backends.testing.conformance import conformance_of
from xla_explorer.backends.testing.outcome import judged, reference
from xla_explorer.backends.xla.plugin_file import (
    ApiVersion,
    PluginError,
    api_version,
)
from xla_explorer.cli.conform_command import badge, page, summary
from xla_explorer.cli.main import main


def faulty(module, values, seed):
    """Run a module on a backend whose tanh is wrong from two rows on."""
    arguments, expected = reference(module, values, seed)
    is_wrong = "tanh" in {i.opcode.name for i in module.instructions()}
    got = [a + a.dtype.type(is_wrong and a.shape[0] > 1) for a in expected]
    return judged(got, expected, "test"), arguments, expected, got


def test_each_failing_opcode_is_minimised_once():
    found = conformance_of("faulty", faulty, ["tanh", "add"], ["f32", "f64"], most=5)
    wrong = [row for row in found.rows if row.opcode == "tanh"]
    assert {row.status for row in wrong} == {"wrong"} and len(wrong) == found.counts["wrong"]
    [failure] = found.failures
    assert "f32[2,2]" in failure.text and not found.passed
    counts = f"{len(found.rows) - len(wrong)} ok, {len(wrong)} wrong"
    assert summary(found) == f"{len(found.rows)} programs: {counts}"
    text = page(found, ApiVersion(0, 81), "a device\nof somebody")
    assert "Failures, minimised" in text and "PJRT 0.81: a device of somebody" in text
    share = 100 * (len(found.rows) - len(wrong)) // len(found.rows)
    assert f"{share} % of {len(found.rows)}, failures" in badge(found)


def test_a_badge_of_a_right_plugin():
    found = conformance_of("right", faulty, ["add"], ["f32"])
    assert f"100 % of {len(found.rows)}<" in badge(found) and found.first_failure is None


def test_a_file_that_is_no_plugin_is_refused(tmp_path):
    path = tmp_path / "lib.so"
    path.write_bytes(b"not an ELF")
    with pytest.raises(PluginError, match="is not a PJRT plugin"):
        api_version(path)


@pytest.mark.jax
@pytest.mark.long
def test_our_plugin_passes_by_the_command(plugin, tmp_path, capsys, monkeypatch):
    """The file is in the current folder, and is given by its name."""
    out, svg = tmp_path / "page.html", tmp_path / "badge.svg"
    monkeypatch.chdir(tmp_path)
    words = ["conform", plugin.name, "--opcodes", "add,tanh", "--types", "f32,s32"]
    assert main([*words, "-o", str(out), "--badge", str(svg)]) == 0
    assert "7 programs: 7 ok" in capsys.readouterr().out
    assert "<table" in out.read_text() and "100 % of 7" in svg.read_text()
