"""A notebook run and saved: the file holds the static form for viewers without widgets."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(
    find_spec("nbclient") is None or find_spec("nbconvert") is None,
    reason="nbclient or nbconvert is not installed: no notebook is saved",
)
ROOT = Path(__file__).resolve().parents[2]


HLO = """%%hlo plus --show graph,fusion,ir --annotate
HloModule plus
ENTRY e {
  x = f32[64] parameter(0)
  y = f32[64] parameter(1)
  t = f32[64] tanh(x)
  ROOT b = f32[64] add(t, y)
}"""

ENDLESS = """%%hlo endless --isolate --timeout 1
HloModule endless
c {
  p = (s32[]) parameter(0)
  ROOT t = pred[] constant(true)
}
b {
  p = (s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT r = (s32[]) tuple(j)
}
ENTRY e {
  i = s32[] parameter(0)
  t = (s32[]) tuple(i)
  w = (s32[]) while(t), condition=c, body=b
  ROOT r = s32[] get-tuple-element(w), index=0
}"""

STATIC = """from tests.support.explorer_fakes import SoftmaxSource
from xla_explorer.notebook.explorer_widget import ExplorerWidget
ExplorerWidget(SoftmaxSource())
"""


def _run(*sources: str) -> Any:
    """Return the notebook after a run without its first cell."""
    import nbclient
    import nbformat

    paths = [str(ROOT), str(ROOT / "tests" / "explorer" / "views")]
    cells = [
        nbformat.v4.new_code_cell(f"import sys\nsys.path[:0] = {paths!r}\n%load_ext xla_explorer"),
        *map(nbformat.v4.new_code_cell, sources),
    ]
    for cell in cells:
        cell.metadata["tags"] = ["raises-exception"] if cell.source is ENDLESS else []
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(
        notebook, timeout=120, kernel_name="python3", store_widget_state=False
    ).execute()
    return _of(notebook, *cells[1:])


def _of(notebook: Any, *cells: Any) -> Any:
    """Return the same notebook with these cells."""
    import nbformat

    return nbformat.v4.new_notebook(cells=list(cells), metadata=notebook.metadata)


@pytest.fixture(scope="module")
def executed() -> Any:
    """One kernel for all of them: its start is what takes long."""
    return _run(
        STATIC,
        HLO,
        "plus",
        "import xla_explorer as xe; xe.explore(plus)",
        "plus.module",
        ENDLESS,
        "6 * 7",
    )


@pytest.mark.long
def test_the_static_form_reaches_the_file_and_nbconvert_shows_it(executed: Any) -> None:
    import nbconvert

    notebook = _of(executed, executed.cells[0])
    (output,) = [o for o in notebook.cells[0].outputs if o.output_type == "execute_result"]
    assert {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"} <= set(
        output.data
    )
    assert "data:image/svg+xml;base64," in output.data["text/html"]
    page, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
    assert "would-duplicate-expensive" in page and "13 → 4 kernels" in page


def test_a_notebook_of_magics_shows_everything_without_a_kernel(
    executed: Any, tmp_path: Path
) -> None:
    import nbconvert
    import nbformat

    notebook = _of(executed, *executed.cells[1:5])
    path = tmp_path / "saved.ipynb"
    nbformat.write(notebook, path)
    page, _ = nbconvert.HTMLExporter().from_filename(str(path))
    assert "<svg" in page or "data:image/svg+xml" in page  # the graph
    assert "Decisions:" in page and "accepted" in page  # the table
    assert "LLVM IR, optimised" in page and "fadd" in page  # the code
    assert "<details" in page and "xla-explorer-annotated" in page
    assert "Error displaying widget" not in page and "Traceback" not in page
    # Every output of ours is bounded, and needs no script.
    for cell in notebook.cells:
        for output in cell.outputs:
            html = output.get("data", {}).get("text/html", "")
            assert len(html) < 300_000 and "<script" not in html


@pytest.mark.slow
def test_other_exporters_show_text(tmp_path: Path) -> None:
    import nbconvert

    notebook = _run(HLO, "plus")
    text, _ = nbconvert.MarkdownExporter().from_notebook_node(notebook)
    assert "<Session plus on cpu" in text


def test_an_endless_loop_in_a_notebook_ends_and_the_kernel_lives(executed: Any) -> None:
    endless, after = executed.cells[5:]
    said = str(endless.outputs)
    assert "1 s and was killed" in said and "endless" in said
    assert after.outputs[0].data["text/plain"] == "42"
