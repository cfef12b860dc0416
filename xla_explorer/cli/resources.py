"""The files of the tour: inside the package when installed from a wheel, in the source tree when installed editable."""

from __future__ import annotations

from pathlib import Path

from xla_explorer.foundation.diagnostic import XlaExplorerError

MODULES = ("attention_h8_s256_d64.hlo", "mlp_train_b128_784_512_10.hlo")
NOTEBOOK = "00_tour.ipynb"


def resource(name: str) -> Path:
    """The path of a tour file. XlaExplorerError when the installation lacks it."""
    here = Path(__file__).resolve().parent
    root = here.parents[1]
    for candidate in (here / "data" / name, root / "tests" / "data" / name, root / "notebooks" / name):
        if candidate.is_file():
            return candidate
    raise XlaExplorerError(f"the file {name} is not in this installation", "install the package again: pip install --force-reinstall xla-explorer")
