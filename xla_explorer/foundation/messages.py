"""Messages between this process and its own child processes, in `plain_data`, never pickles.

The child's memory may be controlled by the code it runs. Reading a message therefore neither runs
code nor imports modules.
"""

from __future__ import annotations

import os
import signal
import struct
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, Final

import numpy as np

from xla_explorer.foundation.plain_data import Buffer, Message, packed

_CHUNK: Final = 1 << 20


def own_streams(prints_to: int = 2) -> tuple[BinaryIO, BinaryIO]:
    """Return (requests, answers) of a child, its standard streams; prints go to another descriptor.

    The child ignores keyboard interrupts; the parent ends it if necessary. In a copy made by
    `os.fork` both streams are at their end, so that it reads no requests and writes no answers.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(prints_to, 1)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: _disconnect(requests, answers))
    return requests, answers


def _disconnect(*streams: BinaryIO) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in streams:
        os.dup2(nothing, stream.fileno(), inheritable=False)
    os.close(nothing)


def send(stream: BinaryIO, message: Any) -> None:
    """Write one message; PlainDataError before anything is written if a value is not supported."""
    write(stream, packed(message))


def write(stream: BinaryIO, pieces: Iterable[Buffer]) -> None:
    """Write the pieces of a packed message."""
    for piece in pieces:
        view = memoryview(piece)
        view = view.cast("B") if view.nbytes else memoryview(b"")  # an empty view cannot be cast
        while view:  # an unbuffered stream may write a part
            view = view[stream.write(view) :]
    stream.flush()


def receive_unread(stream: BinaryIO) -> Message:
    """Read the bytes of one message.

    EOFError if the other side has ended, PlainDataError for invalid bytes.
    """
    (size,) = struct.unpack("<Q", _bytes(stream, 8))
    return Message(_bytes(stream, size), lambda wanted: _buffer(stream, wanted))


def receive(stream: BinaryIO) -> Any:
    """Read one message; EOFError if the other side has ended."""
    return receive_unread(stream).value()


def received(stream: BinaryIO) -> Iterator[Any]:
    """Yield messages until the other side has ended."""
    while True:
        try:
            yield receive(stream)
        except EOFError:
            return


def _bytes(stream: BinaryIO, size: int) -> bytearray:
    found = bytearray()
    while len(found) < size:  # piece by piece: a length alone must not cost memory
        piece = stream.read(min(size - len(found), _CHUNK))
        if not piece:
            raise EOFError
        found += piece
    return found


def _buffer(stream: BinaryIO, size: int) -> Buffer:
    found: Any = np.empty(size, np.uint8)
    view = memoryview(found) if size else memoryview(b"")
    while view:
        count = stream.readinto(view)  # type: ignore[attr-defined]  # BinaryIO lacks readinto
        if not count:
            raise EOFError
        view = view[count:]
    return found
