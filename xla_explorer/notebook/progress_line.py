"""How a notebook shows that long work goes on: one output that changes, and is empty when the work is done."""

from __future__ import annotations

from typing import Any


class NotebookLine:
    """What `explorer.progress` writes on: the error stream would leave a coloured strip in the notebook."""

    def __init__(self) -> None:
        self._output: Any = None

    def show(self, text: str) -> None:
        from IPython.display import display

        if self._output is None:
            self._output = display({"text/plain": text}, raw=True, display_id=True)
        else:
            self._output.update({"text/plain": text}, raw=True)

    def clear(self) -> None:
        if self._output is not None:
            self._output.update({"text/plain": ""}, raw=True)
