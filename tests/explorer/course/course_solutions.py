"""The reference solutions, cell by cell: `# %% nb03.dce` begins the cell of an exercise."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "notebooks" / "solutions"


def solution_cells() -> dict[str, str]:
    """Source of each exercise's cell by the name of the exercise."""
    cells: dict[str, str] = {}
    for path in sorted(FOLDER.glob("nb*.py")):
        parts = re.split(r"^# %% (\S+)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        cells.update(zip(parts[1::2], [part.strip() for part in parts[2::2]], strict=True))
    return cells
