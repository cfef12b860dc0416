"""Serialisation of values for messages between processes, without code from the bytes.

A JSON text holds a table whose entries refer to earlier ones, so that shared values stay shared.
Arrays and bytes follow unchanged. Python's plain values, numpy's arrays, enumerations, named tuples
and dataclasses are supported. So are exceptions (without unsupported attributes), and classes
declared by `register_plain_data`. Objects are filled without calling `__init__`. A class that is
not loaded is imported only from this package.
"""

from __future__ import annotations

import dataclasses
import enum
import importlib
import json
import re
import struct
import sys
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar, cast

import numpy as np

from xla_explorer.foundation.diagnostic import SourceSpan, XlaExplorerError
from xla_explorer.foundation.reason import Reason

Buffer = Any  # any argument of memoryview
_T = TypeVar("_T")
_NAME: Final = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)")
_DIRECT: Final = frozenset({type(None), bool, str, float})
_COLLECTIONS: Final[dict[str, type]] = {"t": tuple, "l": list, "s": set, "f": frozenset}
_TAGS: Final = {kind: tag for tag, kind in _COLLECTIONS.items()}
_MOST_DIGITS: Final = 1 << 62  # larger integers than JSON readers support are hexadecimal text


class PlainDataError(XlaExplorerError, ValueError):
    """A value that is not supported, or bytes that are not a message."""


_TO_VALUES: dict[type, Callable[[Any], tuple[Any, ...]]] = {}
_FROM_VALUES: dict[type, Callable[..., Any]] = {}


def register_plain_data(
    cls: type[_T], to_values: Callable[[_T], tuple[Any, ...]], from_values: Callable[..., _T]
) -> None:
    """Declare the conversion of a class to plain values and back."""
    _TO_VALUES[cls], _FROM_VALUES[cls] = to_values, from_values


register_plain_data(Reason, lambda r: (r.code, r.message, r.facts), Reason)
register_plain_data(
    SourceSpan, lambda s: (s.filename, s.line, s.column, s.end_column, s.line_text), SourceSpan
)


def _parts_of(kind: type, value: Any) -> Iterable[Any] | None:
    """Return the values from which `_maker` makes an object again, or None."""
    if kind in _TO_VALUES:
        return _TO_VALUES[kind](value)
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return cast("Iterable[Any]", value)
    if dataclasses.is_dataclass(kind):
        return [getattr(value, f.name) for f in dataclasses.fields(kind)]
    return None


class _Writer:
    def __init__(self) -> None:
        self.table: list[list[Any]] = []
        self.classes: dict[type, int] = {}
        self.buffers: list[Buffer] = []
        self.known: dict[int, list[int]] = {}
        self.alive: list[Any] = []

    def write(self, value: Any) -> Any:
        """Return a direct value itself, else a list with the number of its table entry."""
        kind = type(value)
        if kind in _DIRECT:
            return value
        if kind is int and -_MOST_DIGITS < value < _MOST_DIGITS:
            return value
        found = self.known.get(id(value))
        if found is None:
            entry = self.entry(kind, value)
            found = self.known[id(value)] = [len(self.table)]
            self.table.append(entry)
            self.alive.append(value)
        return found

    def entry(self, kind: type, value: Any) -> list[Any]:
        write = self.write
        tag = _TAGS.get(kind)
        if tag is not None:
            return [tag, *[write(v) for v in value]]
        if issubclass(kind, enum.Enum):
            return ["e", self.class_number(kind), value.name]
        parts = _parts_of(kind, value)
        if parts is not None:
            return ["o", self.class_number(kind), *[write(v) for v in parts]]
        if kind is dict:
            return ["d", *[write(part) for pair in value.items() for part in pair]]
        if kind is int:
            return ["i", hex(value)]
        if kind is complex:
            return ["c", value.real, value.imag]
        if kind in (bytes, bytearray):
            return ["b", self.buffer(value)]
        if isinstance(value, np.ndarray) and kind is np.ndarray:
            return self.array("a", value)
        if isinstance(value, np.generic):
            return self.array("n", np.asarray(value))
        if isinstance(value, BaseException):
            return self.exception(kind, value)
        raise PlainDataError(f"a {kind.__qualname__} cannot be sent to another process")

    def exception(self, kind: type, value: BaseException) -> list[Any]:
        own = {
            name: v
            for name, v in vars(value).items()
            if not name.startswith("__") and is_plain_data(v)
        }
        arguments = tuple([v if is_plain_data(v) else str(v) for v in value.args])
        return ["o", self.class_number(kind), self.write(arguments), self.write(own)]

    def buffer(self, data: Buffer) -> int:
        self.buffers.append(data)
        return len(self.buffers) - 1

    def array(self, tag: str, value: np.ndarray[Any, Any]) -> list[Any]:
        dtype = value.dtype
        if dtype.hasobject or dtype.names is not None or dtype.subdtype is not None:
            raise PlainDataError(f"an array of {dtype} cannot be sent to another process")
        own = dtype.str if dtype.kind in "?bBiufcmMSU" and dtype.isbuiltin != 2 else dtype.name
        data = np.ascontiguousarray(value).reshape(-1).view(np.uint8)
        return [tag, own, list(value.shape), self.buffer(data)]

    def class_number(self, kind: type) -> int:
        return self.classes.setdefault(kind, len(self.classes))


def packed(value: Any) -> list[Buffer]:
    """Return the bytes of a value in pieces, to be written in order.

    Raises PlainDataError for unsupported values: functions, open files, objects of undeclared
    classes.
    """
    writer = _Writer()
    try:
        root = writer.write(value)
        names = [f"{kind.__module__}:{kind.__qualname__}" for kind in writer.classes]
        text = json.dumps(
            [names, writer.table, root, [memoryview(b).nbytes for b in writer.buffers]],
            separators=(",", ":"),
        )
    except RecursionError:
        raise PlainDataError(
            "a value that is nested too deeply, or holds itself, cannot be sent to another process"
        ) from None
    head = text.encode()
    return [struct.pack("<Q", len(head)) + head, *writer.buffers]


def is_plain_data(value: Any) -> bool:
    """Return True if `packed` supports a value."""
    try:
        packed(value)
    except PlainDataError:
        return False
    return True


class Message:
    """A received message; `value()` decodes it.

    Reading the bytes is separate from decoding, for a thread that only reads.
    """

    def __init__(self, head: bytes | bytearray, read: Callable[[int], Buffer]) -> None:
        try:
            self._names, self._table, self._root, sizes = json.loads(head)
            self._buffers = [read(int(size)) for size in sizes]
        except (ValueError, TypeError, RecursionError, MemoryError, OverflowError) as problem:
            raise PlainDataError(f"not a message: {type(problem).__name__}: {problem}") from None

    def value(self) -> Any:
        """Return the decoded value; PlainDataError for invalid bytes."""
        try:
            return self._read()
        except PlainDataError:
            raise
        except Exception as problem:  # any exception caused by hostile bytes
            raise PlainDataError(f"not a message: {type(problem).__name__}: {problem}") from None

    def _read(self) -> Any:
        makers = [_maker(_class_named(name)) for name in self._names]
        made: list[Any] = []

        def of(parts: Iterable[Any]) -> list[Any]:
            return [made[p[0]] if type(p) is list else p for p in parts]

        for entry in self._table:
            tag = entry[0]
            if tag == "o":
                made.append(makers[entry[1]](of(entry[2:])))
            elif tag in _COLLECTIONS:
                made.append(_COLLECTIONS[tag](of(entry[1:])))
            elif tag == "d":
                parts = of(entry[1:])
                made.append(dict(zip(parts[::2], parts[1::2], strict=True)))
            elif tag == "e":
                made.append(makers[entry[1]]([entry[2]]))
            elif tag in ("a", "n"):
                made.append(self._array(entry))
            elif tag == "b":
                made.append(bytes(self._buffers[entry[1]]))
            elif tag == "c":
                made.append(complex(entry[1], entry[2]))
            elif tag == "i":
                made.append(int(entry[1], 16))
            else:
                raise PlainDataError(f"not a message: it has a part {tag!r}")
        return of([self._root])[0]

    def _array(self, entry: list[Any]) -> Any:
        tag, name, shape, number = entry
        dtype = _dtype(name)
        found = np.frombuffer(self._buffers[number], np.uint8).view(dtype).reshape(shape)
        return found[()] if tag == "n" else found


def _dtype(name: str) -> np.dtype[Any]:
    try:
        found = np.dtype(name)
    except TypeError:
        import ml_dtypes

        found = np.dtype(getattr(ml_dtypes, name))
    if found.hasobject:
        raise PlainDataError(f"not a message: an array of {name}")
    return found


def _class_named(name: str) -> type:
    matched = _NAME.fullmatch(name)
    if matched is None:
        raise PlainDataError(f"not a message: it names a class {name!r}")
    module, path = matched.groups()
    found: Any = sys.modules.get(module)
    if found is None and module.startswith("xla_explorer."):
        found = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    if not isinstance(found, type):
        raise PlainDataError(f"this process has no class {name}")
    return found


def _maker(cls: type) -> Callable[[list[Any]], Any]:
    """Return a constructor from the values of an entry that runs no code of the class."""
    if cls in _FROM_VALUES:
        from_values = _FROM_VALUES[cls]
        return lambda values: from_values(*values)
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return lambda values: _named_tuple(cls, values)
    if issubclass(cls, enum.Enum):
        members = cls.__members__
        return lambda values: members[values[0]]
    if dataclasses.is_dataclass(cls):
        names = [field.name for field in dataclasses.fields(cls)]
        return lambda values: _filled(object.__new__(cast(type, cls)), names, values)
    if issubclass(cls, BaseException):
        return lambda values: _exception(cls, *values)
    raise PlainDataError(f"a {cls.__qualname__} cannot come from another process")


def _named_tuple(cls: Any, values: list[Any]) -> Any:
    if len(values) != len(cls._fields):
        raise PlainDataError(f"not a message: a {cls.__qualname__} of {len(values)} fields")
    return tuple.__new__(cls, values)


def _filled(made: Any, names: list[str], values: list[Any]) -> Any:
    for name, value in zip(names, values, strict=True):
        object.__setattr__(made, name, value)
    return made


def _exception(
    cls: type[BaseException], arguments: tuple[Any, ...], own: dict[str, Any]
) -> BaseException:
    made = cls.__new__(cls)
    made.args = arguments
    made.__dict__.update(own)
    return made
