"""Two ways to compute one program: real XLA as it is, and another flag, version or precision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from xla_explorer.backends.xla.child import XlaChild
from xla_explorer.backends.xla.flag_text import flag_text
from xla_explorer.backends.xla.source_names import SourceNames
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.suggestions import nearest
from xla_explorer.frontends.xla_dump import DumpFolder
from xla_explorer.frontends.xla_dump.main_program import read_module
from xla_explorer.hlo.evaluator import evaluate, flatten_value
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import parse_hlo

Array = np.ndarray[Any, Any]

WIDTHS: Final = {"f64": "f64", "float64": "f64", "f32": "f32", "float32": "f32"}
_OPPOSITE: Final = {"f64": "f32", "f32": "f64"}


class Way(NamedTuple):
    """One way to compute. width: an element type in place of f32 or f64; empty: the program's."""

    label: str
    flags: str = ""
    python: str | None = None
    width: str = ""


class Stage(NamedTuple):
    """The program after a pass of XLA."""

    pass_name: str
    module: HloModule


def way_of(other: Any) -> Way:
    """Return the way that `other` of `cause_of_difference` means."""
    if isinstance(other, Mapping):
        flags = " ".join([flag_text(name, value) for name, value in other.items()])
        return Way(flags, flags)
    text = str(other)
    if text.startswith("--"):
        return Way(text, text)
    if text in WIDTHS:
        return Way(text, width=WIDTHS[text])
    if Path(text).expanduser().exists():
        return Way(text, python=text)
    near = nearest(text, WIDTHS)
    raise XlaExplorerError(
        f"other must be flags, a folder of an environment, or an element type, got {text[:80]!r}",
        f"did you mean {near[0]!r}?" if near else 'write other="--xla_cpu_enable_fast_math=true"',
    )


def in_width(module: HloModule, width: str) -> HloModule:
    """Return a program with another width of its floats."""
    text = module.to_text()
    return parse_hlo(text.replace(f"{_OPPOSITE[width]}[", f"{width}[")) if width else module


class Runner:
    """Programs compiled and run one way, each in place of the last; a context manager."""

    def __init__(self, way: Way, *, dumps: bool = False) -> None:
        self.way = way
        self._child = XlaChild(flags=way.flags, python=way.python, dumped=".*" if dumps else "")
        self._numbers: set[int] = set()

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        self._child.close()

    def results(self, module: HloModule, arrays: Sequence[Array]) -> list[Array]:
        """Compile and run a program; XlaProcessError if XLA refuses it."""
        changed = in_width(module, self.way.width)
        if not all(p.shape.is_array for p in changed.entry.parameters()):
            raise XlaExplorerError(
                f"the parameters of {module.name} must be arrays, got a tuple or a token",
                "give each value as a parameter of its own, as JAX does",
            )
        kinds = [p.shape.element_type.dtype for p in changed.entry.parameters()]
        self._child.ask(*SourceNames(changed).request)
        given = [np.asarray(a).astype(k, copy=False) for a, k in zip(arrays, kinds, strict=True)]
        return [np.asarray(one) for one in self._child.ask("run", given)]

    def stages(self) -> list[Stage]:
        """Return the program before the first pass, and after each pass that changed it."""
        folder = DumpFolder(self._child.folder)
        dumped = folder.modules[max(folder.modules)]
        found: list[Stage] = []
        texts: list[str] = []
        for one in dumped.passes:
            module = read_module(one.path)
            text = module.to_text()
            if not texts or text != texts[-1]:
                name = "the program" if not texts else one.name
                found.append(Stage(name, module))
                texts.append(text)
        return found


def evaluated(module: HloModule, arrays: Sequence[Array]) -> list[Array]:
    """Return the evaluator's results."""
    return [np.asarray(leaf) for leaf in flatten_value(evaluate(module, *arrays))]
