"""Each pass has a file of its own name, except aliases of one algorithm."""

from __future__ import annotations

from pathlib import Path

import xla_explorer

TRANSFORMS = Path(xla_explorer.__file__).parent / "compiler" / "transforms"
# Two names of one algorithm, which differ in what they are applied to.
ONE_ALGORITHM = {"collectives/reassociation.py", "fusion/horizontal_fusion.py"}


def test_a_file_declares_one_pass() -> None:
    several = {
        str(path.relative_to(TRANSFORMS))
        for path in TRANSFORMS.rglob("*.py")
        if sum(line.startswith("@register_pass(") for line in path.read_text().splitlines()) > 1
    }
    assert several == ONE_ALGORITHM
