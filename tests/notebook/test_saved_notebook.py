"""A notebook that was run and saved: the static form is in the file, and shows where the widget cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
nbconvert = pytest.importorskip("nbconvert")

ROOT = Path(__file__).resolve().parents[2]


def test_the_static_form_reaches_the_file_and_nbconvert_shows_it() -> None:
    paths = [str(ROOT), str(ROOT / "tests" / "explorer" / "views")]
    code = f"""
import sys
sys.path[:0] = {paths!r}
from explorer_fakes import SoftmaxSource
from xla_explorer.notebook.explorer_widget import ExplorerWidget
ExplorerWidget(SoftmaxSource())
"""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3", store_widget_state=False).execute()
    (output,) = [o for o in notebook.cells[0].outputs if o.output_type == "execute_result"]
    assert {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"} <= set(output.data)
    assert "data:image/svg+xml;base64," in output.data["text/html"]
    page, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
    assert "would-duplicate-expensive" in page and "13 → 4 kernels" in page
