"""Progress of work that takes longer than a second, with a button to cancel it in a notebook.

It shows k of n and the seconds, on a terminal in one line. It disappears when the work is done.
`xe.options.progress = False` turns it off. A script that runs unwatched shows nothing. If
`xe.options.progress` is a function, it is called instead, and cancels the work by returning False.
"""

from __future__ import annotations

import contextvars
import re
import sys
import threading
import time
from _thread import interrupt_main
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from xla_explorer.explorer.display.escaping import escape
from xla_explorer.explorer.sessions.options import options
from xla_explorer.foundation.rounds import present
from xla_explorer.foundation.visible_text import cleaned_text

PATIENCE = 1.0  # seconds without a bar
_PACE = 0.5
_Item = TypeVar("_Item")


def watched() -> bool:
    """Return True if somebody may look: in a notebook's kernel, on a terminal, or by a function."""
    if callable(options.progress) or not options.progress:
        return bool(options.progress)
    return _notebook() is not None or bool(getattr(sys.stderr, "isatty", bool)())


def _notebook() -> Any:
    """Return the module IPython if this process is a notebook's kernel, else None."""
    ipython = sys.modules.get("IPython")
    return (
        ipython
        if ipython is not None and getattr(ipython.get_ipython(), "kernel", None) is not None
        else None
    )


def counted(
    items: Iterable[_Item], label: str, total: int | None = None, noun: str = "done"
) -> Iterator[_Item]:
    """Yield the items, and show k of n if they take longer than a second."""
    if not watched():
        yield from items
        return
    if total is None and isinstance(items, Sized):
        total = len(items)
    line, started, shown, done = _line(), time.monotonic(), 0.0, 0
    try:
        for item in items:
            yield item
            done += 1
            if (now := time.monotonic()) - started > PATIENCE and now - shown > _PACE:
                shown = now
                line.show(label, done, total, noun, now - started)
    finally:
        if shown:
            line.clear()


@contextmanager
def working(label: str) -> Iterator[None]:
    """Show the seconds so far while the block runs, if it takes longer than a second.

    Nested blocks show one line.
    """
    if not watched() or _busy.locked():
        yield
        return
    with _busy:
        ended, started = threading.Event(), time.monotonic()

        def tick() -> None:
            if ended.wait(PATIENCE):
                return
            line = _line()
            while not ended.wait(_PACE):
                line.show(
                    label,
                    present.done,
                    present.total or None,
                    present.noun,
                    time.monotonic() - started,
                )
            line.clear()

        context = contextvars.copy_context()  # it has the cell that the output belongs to
        ticker = threading.Thread(target=lambda: context.run(tick), daemon=True)
        ticker.start()
        try:
            yield
        finally:
            ended.set()
            ticker.join(_PACE)


_busy = threading.Lock()


class _Line:
    """One line of a terminal, written over and over."""

    def __init__(self) -> None:
        self.width = 0

    def show(self, label: str, done: int, total: int | None, noun: str, seconds: float) -> None:
        text = _text(label, done, total, noun, seconds)
        sys.stderr.write("\r" + text.ljust(self.width))
        sys.stderr.flush()
        self.width = len(text)

    def clear(self) -> None:
        sys.stderr.write("\r" + " " * self.width + "\r")
        sys.stderr.flush()


class _Output:
    """A changing output of a notebook, empty at the end.

    The error stream would leave a coloured strip.

    Its button interrupts the kernel through the server, as the notebook's own does: a busy kernel
    reads no message of a widget.
    """

    def __init__(self, ipython: Any) -> None:
        self.ipython, self.shown = ipython, None

    def show(self, label: str, done: int, total: int | None, noun: str, seconds: float) -> None:
        text = _text(label, done, total, noun, seconds)
        bar = (
            f'<progress max="{total}" value="{done}"></progress>'
            if total
            else "<progress></progress>"
        )
        bundle = {
            "text/plain": text,
            "text/html": f"<div>{bar} {escape(text)} {_cancel_button(self.ipython.get_ipython())}</div>",
        }
        if self.shown is None:
            self.shown = self.ipython.display.display(bundle, raw=True, display_id=True)
        else:
            self.shown.update(bundle, raw=True)

    def clear(self) -> None:
        if self.shown is not None:
            self.shown.update({"text/plain": ""}, raw=True)


class _Told:
    """The function of the user in place of a line.

    If it returns False, that is Ctrl-C, once: a second one would interrupt the cancellation.
    """

    def __init__(self) -> None:
        self.halted = False

    def show(self, label: str, done: int, total: int | None, noun: str, seconds: float) -> None:
        if (
            not self.halted
            and callable(options.progress)
            and options.progress(label, done, total, seconds) is False
        ):
            self.halted = True
            interrupt_main()

    def clear(self) -> None:
        pass


def _text(label: str, done: int, total: int | None, noun: str, seconds: float) -> str:
    counted = (
        f"{done} of {total} {noun}, " if total is not None else f"{done} {noun}, " if done else ""
    )
    return cleaned_text(f"{label}: {counted}{seconds:.0f} s")


_CANCEL = (
    "const c=JSON.parse(document.getElementById('jupyter-config-data')?.textContent||'null');"
    "if(!c)this.textContent='use the interrupt button of the notebook';"
    "else "
    "fetch(c.baseUrl+'api/kernels/{}/interrupt',{{method:'POST',credentials:'same-origin',headers:{{"
    "'X-XSRFToken':(document.cookie.match('(?:^|; "
    ")_xsrf=([^;]*)')||[])[1]||'',...(c.token?{{Authorization:'token '+c.token}}:{{}})}}}})"
)


def _cancel_button(shell: Any) -> str:
    """Return a button that interrupts this kernel, or an empty text if its name is unknown.

    It acts when it is pressed, not when it is released: the output is redrawn all the time.
    """
    file = getattr(shell, "config", {}).get("IPKernelApp", {}).get("connection_file", "")
    kernel = Path(str(file)).stem.removeprefix("kernel-")
    if not re.fullmatch(r"[\w-]+", kernel):
        return ""
    return f'<button onpointerdown="{escape(_CANCEL.format(kernel))}">cancel</button>'


def _line() -> _Line | _Output | _Told:
    if callable(options.progress):
        return _Told()
    ipython = _notebook()
    return _Line() if ipython is None else _Output(ipython)
