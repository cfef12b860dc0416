"""Pages that tests share: a fresh page costs a start, a renderer and a Chromium window.

A start costs 1.5 s of processor time, 0.5 s in a running Chromium.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

_VIEWPORT = {"width": 1280, "height": 720}


class Pages:
    """A Chromium whose `new_page` reuses a closed page without its document and listeners."""

    def __init__(self, chromium: Any) -> None:
        self.chromium = chromium
        self._free: list[Any] = []

    def new_page(
        self, *, viewport: dict[str, int] = _VIEWPORT, color_scheme: str = "light", **options: Any
    ) -> Any:
        """Return a page, as Playwright does.

        options: what only a page of its own can have (touch, no script).
        """
        if options:
            return self.chromium.new_page(viewport=viewport, color_scheme=color_scheme, **options)
        page = self._free.pop() if self._free else self._made()
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme=color_scheme)
        return page

    def _made(self) -> Any:
        page = self.chromium.new_page()
        listening: list[tuple[str, Callable[..., object]]] = []
        listen = page.on

        def on(event: str, listener: Callable[..., object]) -> None:
            listening.append((event, listener))
            listen(event, listener)

        page.on = on
        page.close = partial(self._put_back, page, listening)
        return page

    def _put_back(self, page: Any, listening: list[tuple[str, Callable[..., object]]]) -> None:
        for event, listener in listening:
            page.remove_listener(event, listener)
        listening.clear()
        page.evaluate(
            "() => { try { localStorage.clear(); } catch { /* a page without an address has none */ } }"
        )
        page.goto("about:blank")
        page.set_default_timeout(30_000)
        self._free.append(page)


def answer_by(page: Any, **functions: Callable[..., object]) -> None:
    """Bind the names that the page's script calls to these functions.

    A page keeps a name for good: who answers to it is looked up.
    """
    known = page.__dict__.setdefault("answers", {})
    for name in functions.keys() - known.keys():
        page.expose_function(name, lambda *given, name=name: page.answers[name](*given))
    known |= functions
