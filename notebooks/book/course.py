"""The notebooks of the course, and those that are executed while the book is built."""

from pathlib import Path

NOTEBOOKS = Path(__file__).resolve().parents[1]
STORED = sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))
EXECUTED = ["00_tour"]  # the others have stored outputs
