"""Sharding annotations: dropped on one device, kept in modules of several partitions."""

from __future__ import annotations

import numpy as np
import pytest

import xla_explorer as xe
from xla_explorer.explorer.sessions.compilation import program_steps

TEXT = """HloModule s{header}
ENTRY e {{
  x = f32[8] parameter(0)
  c = f32[8] custom-call(x), custom_call_target="{target}", sharding={{replicated}}
  ROOT r = f32[8] add(c, x)
}}"""


def _calls(session: xe.Session) -> list[str]:
    return [i.name for i in session.module.instructions() if i.opcode.name == "custom-call"]


@pytest.mark.parametrize("target", ["Sharding", "SPMDShardToFullShape", "SPMDFullToShardShape"])
def test_they_are_their_operand_on_one_device(target: str) -> None:
    text = TEXT.format(header="", target=target)
    session = xe.compile(text)
    assert _calls(session) == [] and {step.runs_on for step in program_steps(session)} == {"kernel"}
    np.testing.assert_array_equal(
        session(np.arange(8, dtype=np.float32)), 2 * np.arange(8, dtype=np.float32)
    )
    assert xe.aot(text).footprint is not None


def test_they_stay_in_a_module_of_several_partitions() -> None:
    assert _calls(
        xe.optimize(TEXT.format(header=", num_partitions=2", target="Sharding"), "algsimp")
    ) == ["c"]
