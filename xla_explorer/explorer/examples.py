"""The example modules and the tour notebook: inside the package when installed, in the source tree when editable."""

from __future__ import annotations

from pathlib import Path

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo

EXAMPLES = {"attention": "attention_h8_s256_d64.hlo", "mlp_train": "mlp_train_b128_784_512_10.hlo"}
TOUR_NOTEBOOK = "00_tour.ipynb"


def example_path(name: str) -> Path:
    """The path of an example (by its short name or file name) or of the notebook. XlaExplorerError when there is none."""
    file = EXAMPLES.get(name, name)
    if file not in EXAMPLES.values() and file != TOUR_NOTEBOOK:
        raise XlaExplorerError(f"there is no example {name!r}", f"choose from: {', '.join(EXAMPLES)}")
    here = Path(__file__).resolve().parent
    root = here.parents[1]
    for candidate in (here / "data" / file, root / "tests" / "data" / file, root / "notebooks" / file):
        if candidate.is_file():
            return candidate
    raise XlaExplorerError(
        f"the file {file} is not in this installation", "install the package again: pip install --force-reinstall xla-explorer"
    )


def example(name: str = "attention") -> HloModule:
    """A real module as JAX lowers it: `attention` (softmax attention, 8 heads) or `mlp_train` (one training step)."""
    path = example_path(name)
    return parse_hlo(path.read_bytes(), path.name)
