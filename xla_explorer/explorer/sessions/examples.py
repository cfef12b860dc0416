"""The example modules and the notebooks, tour and course: inside the package when installed, in the source tree when editable."""

from __future__ import annotations

from pathlib import Path

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo

EXAMPLES = {"attention": "attention_h8_s256_d64.hlo", "mlp_train": "mlp_train_b128_784_512_10.hlo"}
TOUR_NOTEBOOK = "00_tour.ipynb"
_HERE = Path(__file__).resolve().parents[1]
_ROOT = _HERE.parents[1]


def example_path(name: str) -> Path:
    """The path of an example, by its short name or file name.

    XlaExplorerError when there is none.
    """
    file = EXAMPLES.get(name, name)
    if file not in EXAMPLES.values():
        raise XlaExplorerError(
            f"no example has the name {name!r}", f"choose from: {', '.join(EXAMPLES)}"
        )
    return _installed(file, _ROOT / "tests" / "data")


def notebook_paths() -> list[Path]:
    """The tour and the notebooks of the course, in order."""
    return sorted(_installed(TOUR_NOTEBOOK, _ROOT / "notebooks").parent.glob("[0-9][0-9]_*.ipynb"))


def _installed(file: str, in_the_source_tree: Path) -> Path:
    for folder in (_HERE / "data", in_the_source_tree):
        if (folder / file).is_file():
            return folder / file
    raise XlaExplorerError(
        f"the file {file} is not in this installation",
        "install the package again: pip install --force-reinstall xla-explorer",
    )


def example(name: str = "attention") -> HloModule:
    """A real module as JAX lowers it.

    Parameters
    ----------
    name
        `attention` (softmax attention, 8 heads) or `mlp_train` (one training step).

    Returns
    -------
    HloModule
        The module.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> len(xe.example("attention").entry.parameters())
    3
    """
    path = example_path(name)
    return parse_hlo(path.read_bytes(), path.name)
