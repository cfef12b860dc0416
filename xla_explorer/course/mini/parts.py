"""Parts of a student's compiler as files beside the notebook, shared by the notebooks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from xla_explorer.foundation.diagnostic import XlaExplorerError

PARTS = {
    "parse": "01",
    "simplify": "05",
    "fuse": "07",
    "allocate": "08",
    "emit": "09",
    "compile": "20",
}
"""The notebook of each part."""


class PartMissingError(XlaExplorerError, LookupError):
    """A part is not written yet, or its file does not define it."""


def parts(folder: str | Path = "mini") -> dict[str, str]:
    """Return the number of lines of each part, or the notebook whose task it is.

    Parameters
    ----------
    folder
        Where the files are.

    Returns
    -------
    dict
        A sentence for each part.

    Examples
    --------
    >>> from xla_explorer.course.mini import parts
    >>> parts(folder="not/written/yet")["emit"]
    'missing: the task of notebook 09'
    """
    found = {}
    for name, notebook in PARTS.items():
        path = Path(folder, f"{name}.py")
        lines = len(path.read_text(encoding="utf-8").splitlines()) if path.is_file() else 0
        found[name] = f"{lines} lines" if lines else f"missing: the task of notebook {notebook}"
    return found


def part(name: str, folder: str | Path = "mini") -> Callable[..., Any]:
    """Return a part of the student's compiler from its current file.

    Parameters
    ----------
    name
        parse, simplify, fuse, allocate, emit or compile: the file is `NAME.py` and defines a
        function of that name.
    folder
        Where the files are.

    Returns
    -------
    callable
        The function. The file is read at each call of `part`, so that its latest version runs.

    Raises
    ------
    PartMissingError
        There is no such part, no such file, or no such function in it.

    Examples
    --------
    >>> from xla_explorer.course.mini import part
    >>> part("parse", folder="not/written/yet")
    Traceback (most recent call last):
    ...
    xla_explorer.course.mini.parts.PartMissingError: mini/parse.py does not exist...
    """
    if name not in PARTS:
        raise PartMissingError(
            f"the compiler has no part {name!r}", f"its parts: {', '.join(PARTS)}"
        )
    path = Path(folder, f"{name}.py")
    if not path.is_file():
        raise PartMissingError(
            f"mini/{name}.py does not exist",
            f"run the cell of notebook {PARTS[name]} that writes it",
        )
    scope: dict[str, Any] = {"__name__": f"mini.{name}", "__file__": str(path)}
    exec(compile(path.read_text(encoding="utf-8"), f"mini/{name}.py", "exec"), scope)
    found: Callable[..., Any] | None = scope.get(name)
    if not callable(found):
        raise PartMissingError(
            f"mini/{name}.py defines no function {name}", f"def {name}(...): ..."
        )
    return found
