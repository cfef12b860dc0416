"""Transformations of HLO that a user registers with `jax.extend.xla`, by PJRT's extension for them.

Each gets the program as a serialized HloModuleProto before our own passes, and may return another
one. At the stage `POST_SCHEDULER` the proto has a schedule; its order then means nothing to our
passes. Source of the layouts: xla/pjrt/c/pjrt_c_api_xla_transform_extension.h.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple

from xla_explorer.pjrt.errors import PjrtError
from xla_explorer.pjrt.layouts import CALLBACK, structure
from xla_explorer.pjrt.records import Text, outlives_python

_TYPE, _VERSION = 24, 1  # PJRT_Extension_Type_XlaTransform and its version
_POST_SCHEDULER = 1
_Extension = structure(
    "Xla_Transform_Extension", "struct_size:z type:i next:p register:p clear:p", ""
)
_Register = structure(
    "Register_Xla_Transform_Args", "struct_size:z name:p name_size:z stage:i callbacks:p", ""
)
_Clear = structure(
    "Clear_Xla_Transform_Args",
    "struct_size:z stage:i name:p name_size:z callbacks:p cleared:b",
    "",
)
_Callbacks = structure("XlaTransform_Callbacks", "version:q destroy:p transform:p", "")
_Call = structure(
    "XlaTransform_Args",
    "struct_size:z version:q data:p clean_up:p has_error:b code:i error:p error_size:z module:p "
    "module_size:z changed_module:p "
    "changed_module_size:z changed:b",
    "",
)
_ONE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_TWO = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


class Transformation(NamedTuple):
    """A user's function. callbacks: the address of its `XlaTransform_Callbacks`."""

    name: str
    stage: int
    callbacks: int

    @property
    def is_scheduled(self) -> bool:
        """True if the transformation needs modules with a schedule."""
        return self.stage == _POST_SCHEDULER

    def changed(self, proto: bytes) -> bytes | None:
        """Return the function's result for a serialized module.

        None if it leaves the module unchanged.

        PjrtError if the function fails.
        """
        given = Text(proto)
        call = _Call(ctypes.sizeof(_Call), _VERSION, module=given.address, module_size=given.size)
        _TWO(_Callbacks.from_address(self.callbacks).transform)(
            self.callbacks, ctypes.addressof(call)
        )
        try:
            if call.has_error:
                said = ctypes.string_at(call.error, call.error_size).decode(errors="replace")
                raise PjrtError(
                    "internal",
                    f"the HLO transformation {self.name!r} failed: {said}",
                    "correct it, or take it away: jax.extend.xla.clear_hlo_module_transformation",
                )
            if not call.changed:
                return None
            return ctypes.string_at(call.changed_module, call.changed_module_size)
        finally:
            if call.clean_up:
                _ONE(call.clean_up)(call.data)


transformations: list[Transformation] = []
"""The transformations of this process, in the order of their registration."""
_kept: list[Any] = outlives_python([])


def _register(address: int) -> None:
    a = _Register.from_address(address)
    if not a.callbacks or _Callbacks.from_address(a.callbacks).version != _VERSION:
        raise PjrtError(
            "unimplemented",
            f"a transformation of HLO must have callbacks of version {_VERSION}",
            "install a jaxlib whose jax.extend.xla works on JAX's CPU",
        )
    transformations.append(Transformation(_name(a), a.stage, a.callbacks))


def _clear(address: int) -> None:
    a = _Clear.from_address(address)
    gone = [t for t in transformations if (t.name, t.stage) == (_name(a), a.stage)]
    transformations[:] = [t for t in transformations if t not in gone]
    for one in gone:
        destroy = _Callbacks.from_address(one.callbacks).destroy
        if destroy:
            _ONE(destroy)(one.callbacks)
    a.cleared = bool(gone)


def _name(a: Any) -> str:
    """Return the name, or by default one from the address of the callbacks."""
    return (
        ctypes.string_at(a.name, a.name_size).decode() if a.name else f"transform at {a.callbacks}"
    )


def extension(following: int, error_handle: Callable[[BaseException], int | None]) -> int:
    """Return the address of the extension.

    following: the address of the next extension. error_handle: makes the handle of an error.
    """

    def callback(function: Callable[[int], None]) -> int | None:
        def call(address: int) -> int | None:
            try:
                function(address)
                return None
            except BaseException as problem:  # it must not travel through native frames
                return error_handle(problem)

        made = CALLBACK(call)
        _kept.append(made)
        return ctypes.cast(made, ctypes.c_void_p).value

    found = _Extension(
        ctypes.sizeof(_Extension), _TYPE, following, callback(_register), callback(_clear)
    )
    _kept.append(found)
    return ctypes.addressof(found)
