"""`build_fusion`, a stable import: the order of its members is checked."""

from __future__ import annotations

import itertools

import pytest

import xla_explorer as xe
from xla_explorer.compiler.transforms.fusion.building import build_fusion
from xla_explorer.foundation.diagnostic import XlaExplorerError

TEXT = "ENTRY e { x = f32[4] parameter(0)  a = f32[4] negate(x)  b = f32[4] abs(a)  ROOT r = f32[4] add(a, b) }"


@pytest.mark.parametrize("order", list(itertools.permutations("rab")))
def test_members_come_users_before_producers(order: tuple[str, ...]) -> None:
    module = xe.parse_hlo(TEXT)
    members = [module.find(name) for name in order]
    if order == ("r", "b", "a"):
        assert build_fusion(module.entry, members[0], members).opcode.name == "fusion"
    else:
        with pytest.raises(XlaExplorerError, match=r"first member|before its user"):
            build_fusion(module.entry, module.find("r"), members)
