"""Slides: every course notebook marks their beginnings, and their page loads nothing."""

from __future__ import annotations

import importlib.util
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.notebooks.course_notebooks import COURSE, ROOT, read

pytestmark = pytest.mark.skipif(
    find_spec("nbconvert") is None, reason="nbconvert is not installed: NO slides are made"
)

LATER = ("09", "12")  # written anew; the script tags what has no tags
TAGGED = [path for path in COURSE if path.stem[:2] <= "19" and path.stem[:2] not in LATER]


def script() -> Any:
    """`notebooks/slides.py` as a module."""
    spec = importlib.util.spec_from_file_location("slides", ROOT / "notebooks" / "slides.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", TAGGED, ids=[path.stem for path in TAGGED])
def test_cells_have_their_slide_types(path: Path) -> None:
    kinds = [cell.metadata.get("slideshow", {}).get("slide_type") for cell in read(path).cells]
    assert (
        kinds[0] == "slide"
        and len([k for k in kinds if k in ("slide", "subslide")]) >= 4
        and "skip" in kinds
    ), "notebooks/slides.py --tag"


def test_a_page_of_slides_loads_nothing() -> None:
    notebook = read(next(path for path in COURSE if path.stem.startswith("03")))
    page = script().page(notebook, "03")
    assert page.count("<section>") == sum(
        [
            cell.metadata.get("slideshow", {}).get("slide_type") in ("slide", "subslide")
            for cell in notebook.cells
        ]
    )
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//|@import|url\(["']?https?:""", page)
    assert "not solved yet" not in page and "What is dead?" in page and "<aside>" in page
