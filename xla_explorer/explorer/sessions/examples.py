"""Example modules and notebooks.

They lie inside the package if it is installed, and in the source tree if the install is editable.
"""

from __future__ import annotations

from pathlib import Path

from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.keywords import explains_arguments
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo

EXAMPLES = {"attention": "attention_h8_s256_d64.hlo", "mlp_train": "mlp_train_b128_784_512_10.hlo"}
TOUR_NOTEBOOK = "00_tour.ipynb"
_HERE = Path(__file__).resolve().parents[1]
_ROOT = _HERE.parents[1]


def example_path(name: str) -> Path:
    """Return the path of an example by its name, an unambiguous beginning of it, or its file name.

    XlaExplorerError if there is none.
    """
    found = [f for known, f in EXAMPLES.items() if name == f or (name and known.startswith(name))]
    if len(found) != 1:
        raise XlaExplorerError(
            f"no example has the name {name!r}", f"choose from: {', '.join(EXAMPLES)}"
        )
    return _installed(found[0], _ROOT / "tests" / "data")


def notebook_paths() -> list[Path]:
    """Return the paths of the tour and of the course's notebooks, in order."""
    return sorted(_installed(TOUR_NOTEBOOK, _ROOT / "notebooks").parent.glob("[0-9][0-9]_*.ipynb"))


def _installed(file: str, in_the_source_tree: Path) -> Path:
    for folder in (_HERE / "data", in_the_source_tree):
        if (folder / file).is_file():
            return folder / file
    raise XlaExplorerError(
        f"the file {file} is not in this installation",
        "install the package again: pip install --force-reinstall xla-explorer",
    )


@explains_arguments
def example(name: str = "attention") -> HloModule:
    """Return an example: a real module as JAX lowers it, before any pass.

    Parameters
    ----------
    name : str
        `attention`: softmax attention, 8 heads of 256 positions and 64 features.
        `mlp_train`: one training step of a perceptron with a batch of 128 and layers of 784, 512
        and 10. An unambiguous beginning is enough: `mlp`.

    Returns
    -------
    HloModule
        The module, to compile, evaluate or print.

    Raises
    ------
    XlaExplorerError
        No example has this name; with the names that exist.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> [p.shape.text_without_layout for p in xe.example("attention").entry.parameters()]
    ['f32[8,256,64]', 'f32[8,256,64]', 'f32[8,256,64]']
    """
    path = example_path(name)
    return parse_hlo(path.read_bytes(), path.name)
