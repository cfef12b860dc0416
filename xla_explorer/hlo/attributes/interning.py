"""The attributes of an instruction: an interned, immutable mapping from name to decoded value.

Equal attributes are one object, so CSE compares them by identity and ten thousand `dimensions={}`
cost one dictionary. Computations that an instruction calls (`to_apply=`, `body=` ...) are not
attributes; they are `HloInstruction.called`.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Mapping
from typing import Any

from xla_explorer.hlo.attributes.codecs import CODECS, TRAILING, AttributeCodec, RawCodec


class Attributes(dict[str, Any]):
    """Interned, immutable attributes; hash and equality are identity.

    Make one with `attributes_of`.

    text: the opcode's own attributes as printed (`, dimensions={0}`), in canonical order.
    sharding_text: the attributes that XLA prints after the called computations, such as shardings.
    backend_text: the attributes that XLA prints after the metadata.
    """

    __slots__ = ("__weakref__", "backend_text", "sharding_text", "text")

    text: str
    sharding_text: str
    backend_text: str

    def __hash__(self) -> int:  # type: ignore[override]
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def value(self, name: str) -> Any:
        """Return the value of an attribute, or its default if it is absent.

        KeyError if the attribute is absent and has no default.
        """
        found = self.get(name, self)
        if found is self:
            codec = CODECS[name]
            if codec.default is AttributeCodec.REQUIRED:
                raise KeyError(f"attribute {name} is absent and has no default")
            return codec.default
        return found

    def with_values(self, **changes: Any) -> Attributes:
        """Return the attributes with some replaced; a value of None removes one.

        Use `_` for `-` in names.
        """
        merged = dict(self)
        for name, value in changes.items():
            name = (
                name
                if name in CODECS
                else name.replace("_", "-")
                if name.replace("_", "-") in CODECS
                else name
            )
            merged.pop(name, None) if value is None else merged.__setitem__(name, value)
        return attributes_of(merged)


# `_ALIVE` makes attributes unique. `_RECENT` is a faster cache in front of it, cleared now and then
# so that it does not keep all attributes alive.
_ALIVE: weakref.WeakValueDictionary[Any, Attributes] = weakref.WeakValueDictionary()
_RECENT: dict[Any, Attributes] = {}
_MOST_RECENT = 1 << 12  # about 3 MB
_lock = threading.Lock()


def _renew_lock() -> None:
    global _lock
    _lock = threading.Lock()  # another thread may have held it when this process was forked


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def _rank(name: str) -> int:
    codec = CODECS.get(name)
    return codec.rank if codec else 10_000


def attributes_of(values: Mapping[str, Any]) -> Attributes:
    """Return the interned Attributes with these values.

    Values equal to their default are dropped; order does not matter.
    """
    items = [
        (name, value)
        for name, value in values.items()
        if (codec := CODECS.get(name)) is None or value != codec.default
    ]
    items.sort(key=lambda item: _rank(item[0]))
    key = tuple(items)
    found = _RECENT.get(key)
    if found is None:
        found = _ALIVE.get(key)
        if found is None:
            found = _made(key, items)
        if len(_RECENT) >= _MOST_RECENT:
            _RECENT.clear()
        _RECENT[key] = found
    return found


def _made(key: Any, items: list[tuple[str, Any]]) -> Attributes:
    """Return new attributes, or equal ones that another thread has interned meanwhile."""
    found = Attributes(items)
    texts = {"own": "", "sharding": "", "backend": ""}
    for name, value in items:
        texts[TRAILING.get(name, "own")] += f", {name}={CODECS.get(name, RawCodec).write(value)}"
    found.text, found.sharding_text, found.backend_text = (
        texts["own"],
        texts["sharding"],
        texts["backend"],
    )
    with _lock:
        return _ALIVE.setdefault(key, found)


NO_ATTRIBUTES = attributes_of({})
