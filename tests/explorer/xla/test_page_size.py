"""The page of a large dump with a profile: it must stay small enough to mail."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frontends.xla_profile_fixtures import PlaneWriter, profile_of
from xla_explorer.explorer.page.html_page import export_page
from xla_explorer.explorer.page.session_source import SessionSource
from xla_explorer.explorer.recorded_modules import RecordedModules

CHAIN = 7000


def _text(opcodes: tuple[str, ...]) -> str:
    lines = [f"  i{k} = f32[64,64] {opcodes[k % len(opcodes)]}(i{k - 1})" for k in range(1, CHAIN)]
    lines[-1] = lines[-1].replace("  i", "  ROOT i", 1)
    return "\n".join(
        [
            "HloModule jit_f, is_scheduled=true",
            "ENTRY main {",
            "  i0 = f32[64,64] parameter(0)",
            *lines,
            "}",
        ]
    )


@pytest.mark.slow
def test_the_page_of_seven_thousand_instructions_with_a_profile_is_below_five_megabytes(
    tmp_path: Path,
) -> None:
    for name, opcodes in (("before_optimizations", ("exponential", "cosine")), ("0001.p.after_algsimp.before_dce", ("exponential", "sine")),
                          ("cpu_after_optimizations", ("exponential", "sine", "abs"))):  # fmt: skip
        (tmp_path / f"module_0000.jit_f.{name}.txt").write_text(_text(opcodes))
    plane = PlaneWriter("/host:CPU")
    events = [
        (
            plane.kind(f"i{k}"),
            k,
            0.5,
            {"hlo_op": f"i{k}", "hlo_module": "jit_f", "program_id": 0, "run_id": 1},
        )
        for k in range(1, CHAIN)
    ]
    plane.line("tf_XLAEigen/1", *events)
    (tmp_path / "host.xplane.pb").write_bytes(profile_of(plane))
    found = RecordedModules(tmp_path)
    session = found.session(found.rows[0].key)
    assert (
        len(session.last_profile) == CHAIN
    )  # each instruction but the parameter, and the whole program
    assert len(export_page(SessionSource(session)).encode()) < 5_000_000
