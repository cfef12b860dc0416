"""Run course notebooks with their stubs, or with the reference solutions in their cells.

`python course_notebooks.py [STEM ...]` runs them with the stubs and stores the outputs in the
files, as they are published.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
COURSE = sorted(
    path for path in (ROOT / "notebooks").glob("*.ipynb") if not path.stem.startswith("00")
)


def solution_cells() -> dict[str, str]:
    """Return each exercise's cell source by name; `# %% nb03.dce` begins one in `solutions/`."""
    cells: dict[str, str] = {}
    for path in sorted((Path(__file__).parent / "solutions").glob("nb*.py")):
        parts = re.split(r"^# %% (\S+)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        cells.update(zip(parts[1::2], [part.strip() for part in parts[2::2]], strict=True))
    for path in sorted(
        (Path(__file__).parent / "solutions" / "mini").glob("*.py")
    ):  # files that students write
        title, source = path.read_text(encoding="utf-8").split("\n\n", 1)
        name = re.search(r"nb\d+\.\w+", title)
        assert name is not None, path
        cells[name[0]] = f"%%writefile mini/{path.name}\n{source.strip()}"
    return cells


def write_parts(folder: Path) -> None:
    """Write the files of the student's own compiler, as the cells of all notebooks do."""
    (folder / "mini").mkdir()
    for source in solution_cells().values():
        if source.startswith("%%writefile "):
            first, rest = source.split("\n", 1)
            (folder / first.removeprefix("%%writefile ")).write_text(rest, encoding="utf-8")


def exercise_cells(notebook: Any) -> list[Any]:
    """Return the cells in which students write."""
    return [cell for cell in notebook.cells if "exercise" in cell.metadata.get("tags", ())]


def with_solutions(notebook: Any) -> Any:
    """Return the notebook with the reference solutions in place of the stubs."""
    solutions = solution_cells()
    for cell in exercise_cells(notebook):
        cell.source = solutions[cell.metadata["exercise"]]
    return notebook


def read(path: Path) -> Any:
    """Return a notebook."""
    import nbformat  # takes seconds of processor time, which whoever only collects tests is spared

    return nbformat.read(path, 4)


def run(notebook: Any, folder: Path, seconds: int = 200) -> Any:
    """Execute from top to bottom in a fresh kernel whose working directory is `folder`."""
    import nbclient

    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    nbclient.NotebookClient(
        notebook,
        timeout=seconds,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
    ).execute()
    return notebook


def published(notebook: Any) -> Any:
    """Without widget state, progress, times of execution and other traces of this run."""
    import nbformat

    notebook.metadata = {
        "kernelspec": notebook.metadata["kernelspec"],
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", ()):
            output.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None)
        if cell.cell_type == "code":
            unseen = ({"text/plain": ""}, {})  # a progress bar that has gone
            cell.outputs = [
                o for o in cell.outputs if o.get("name") != "stderr" and o.get("data") not in unseen
            ]  # stderr: of slow machines
    return nbformat.reads(
        re.sub(r"/[^\s\"'<>]*?/ipykernel_\d+/\d+\.py", "cell.py", nbformat.writes(notebook)), 4
    )  # files of this run's cells


if __name__ == "__main__":
    import subprocess
    import tempfile

    import nbformat

    for path in COURSE:
        if not sys.argv[1:] or path.stem in sys.argv[1:]:
            with tempfile.TemporaryDirectory() as scratch:
                nbformat.write(published(run(read(path), Path(scratch))), path)
            subprocess.run(
                [sys.executable, str(ROOT / "notebooks" / "slides.py"), "--tag", str(path)],
                check=True,
            )
            print(path.name, path.stat().st_size)
