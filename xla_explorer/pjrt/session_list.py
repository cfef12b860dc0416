"""The sessions of JAX's compiles."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, overload

from xla_explorer.explorer.session import Session
from xla_explorer.pjrt.plugin_options import options


class Sessions(Sequence[Session]):
    """Every compile of this process, newest last: `sessions[-1].decisions("fusion")`.

    The newest 100 (option `keep`) stay; older ones are listed as long as they are referenced
    elsewhere.
    """

    def __init__(self) -> None:
        self._newest: deque[Session] = deque()
        self._older: deque[weakref.ref[Session]] = deque()
        self._lock = threading.Lock()
        self.compiled = 0  # ever

    def add(self, session: Session) -> int:
        """Add a session; return the number of sessions before it."""
        with self._lock:
            self._newest.append(session)
            while len(self._newest) > options.keep:
                self._older.append(weakref.ref(self._newest.popleft()))
            if len(self._older) > 2 * options.keep:
                self._older = deque([r for r in self._older if r() is not None])
            self.compiled += 1
            return self.compiled - 1

    def _all(self) -> list[Session]:
        with self._lock:
            return [*[s for r in self._older if (s := r()) is not None], *self._newest]

    def __len__(self) -> int:
        return len(self._all())

    def __iter__(self) -> Iterator[Session]:
        return iter(self._all())

    @overload
    def __getitem__(self, index: int) -> Session: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Session]: ...
    def __getitem__(self, index: int | slice) -> Session | Sequence[Session]:
        return self._all()[index]

    def named(self, name: str) -> list[Session]:
        """Return the sessions whose module's name contains a text, such as a function's name."""
        return [s for s in self._all() if name in s.source.name]

    def slowest(self) -> Session:
        """Return the session with the longest compile. ValueError if there is none."""
        return max(self._all(), key=lambda s: sum(s.seconds.values()))

    def __repr__(self) -> str:
        names: Any = [s.source.name for s in self._all()[-5:]]
        return (
            f"<{len(self)} sessions of {self.compiled} compiles, the last: "
            f"{', '.join(names) or 'none'}>"
        )


sessions = Sessions()
