"""One call of a typed foreign function; its structures are made once, and reused by each run.

A run enters only the addresses of its arrays.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from xla_explorer.frontends.foreign_calls import interface
from xla_explorer.frontends.foreign_calls.attributes import ForeignValue
from xla_explorer.frontends.hlo_proto.shapes import TYPE_NAMES
from xla_explorer.hlo.shape import Shape

_CODES = {name: code for code, name in TYPE_NAMES.items()}
_BUFFER = 1  # XLA_FFI_ArgType, XLA_FFI_RetType


class CallFrame:
    """The structures of one call; one run at a time uses them.

    buffers: the addresses of its buffers, the operands', then the results'.
    """

    def __init__(
        self,
        operands: Sequence[Shape],
        results: Sequence[Shape],
        attributes: Mapping[str, ForeignValue],
        context: int,
    ) -> None:
        self._kept: list[Any] = []
        given, made = [self._buffer(s) for s in operands], [self._buffer(s) for s in results]
        self._buffers = [*given, *made]
        self.buffers = [ctypes.addressof(b) for b in self._buffers]
        self.frame = interface.Frame(
            struct_size=interface.Frame.future.offset,
            api=interface.interface_address(),
            context=context,
            arguments=self._listed(given),
            results=self._listed(made),
            attributes=self._attributes(attributes),
        )
        self.address = ctypes.addressof(self.frame)

    def enter(self, addresses: Sequence[int | None]) -> None:
        """Enter the addresses of the operands, then of the results, of the next run.

        None for a token.
        """
        for row, address in zip(self._buffers, addresses, strict=True):
            row.data = address

    def _array(self, kind: Any, values: Sequence[Any]) -> int:
        made = (kind * max(len(values), 1))(*values)
        self._kept.append(made)
        return ctypes.addressof(made)

    def _place(self, record: Any) -> int:
        self._kept.append(record)
        return ctypes.addressof(record)

    def _buffer(self, shape: Shape) -> Any:
        dims = shape.dimensions if shape.is_array else ()
        return interface.Buffer(
            struct_size=ctypes.sizeof(interface.Buffer),
            dtype=_CODES[shape.element_type.name],
            rank=len(dims),
            dims=self._array(ctypes.c_int64, dims),
        )

    def _listed(self, buffers: Sequence[Any]) -> Any:
        return interface.Operands(
            struct_size=ctypes.sizeof(interface.Operands),
            size=len(buffers),
            types=self._array(ctypes.c_int32, [_BUFFER] * len(buffers)),
            values=self._array(ctypes.c_void_p, [ctypes.addressof(b) for b in buffers]),
        )

    def _text(self, text: str) -> int:
        raw = text.encode()
        return self._place(interface.Text(self._array(ctypes.c_uint8, raw), len(raw)))

    def _attributes(self, given: Mapping[str, ForeignValue]) -> Any:
        rows = [self._attribute(value) for value in given.values()]
        return interface.Attributes(
            struct_size=ctypes.sizeof(interface.Attributes),
            size=len(rows),
            types=self._array(ctypes.c_int32, [kind for kind, _ in rows]),
            names=self._array(ctypes.c_void_p, [self._text(name) for name in given]),
            values=self._array(ctypes.c_void_p, [place for _, place in rows]),
        )

    def _attribute(self, value: ForeignValue) -> tuple[int, int]:
        """Return (XLA_FFI_AttrType, address) of an attribute."""
        if isinstance(value, str):
            return interface.STRING, self._text(value)
        if isinstance(value, Mapping):
            return interface.DICTIONARY, self._place(self._attributes(value))
        kind, numbers = value
        data = self._array(ctypes.c_uint8, np.ascontiguousarray(numbers).tobytes())
        if numbers.ndim == 0:
            return interface.SCALAR, self._place(interface.Scalar(_CODES[kind.name], data))
        return interface.ARRAY, self._place(
            interface.Numbers(_CODES[kind.name], numbers.size, data)
        )
