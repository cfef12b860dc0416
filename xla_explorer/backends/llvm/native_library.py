"""Object code loaded into this process (LLVM's LLJIT), and Python functions on its symbols."""

from __future__ import annotations

import ctypes
import itertools
import os
import struct
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from xla_explorer.backends.llvm.llvm_compiler import CompiledObject, SharedObject, optimize_and_emit
from xla_explorer.backends.llvm.runtime_support import support_functions
from xla_explorer.backends.llvm.target_machine import (
    X86,
    TargetAboveMachineError,
    create_target_machine,
    host_target,
    llvm,
    own_target_machine,
    usable_cores,
    why_not_here,
)
from xla_explorer.backends.llvm.target_request import TARGET_VARIABLE
from xla_explorer.compiler.codegen.ir.llvm_module import LlvmModule
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.foundation.reason import Reason


class NativeLinkError(XlaExplorerError):
    """An object could not be loaded: an undefined symbol, or an object of another machine."""


# LLJIT never lets a library name be used twice, not even after the library is gone.
_names = itertools.count(1)
_LIBRARIES_OF_A_LINKER = 256


class _Linker:
    """One LLJIT.

    It keeps about 10 KB of each library that it ever linked. After some hundreds of libraries a new
    linker replaces it; the old one is freed with its last library.
    """

    def __init__(self) -> None:
        self.jit: Any = llvm().create_lljit_compiler(
            create_target_machine(host_target()), suppress_errors=True
        )
        self.linked = 0
        self.open = 0


_linker_lock = threading.RLock()
_linkers: dict[int, _Linker] = {}  # those in use, by number; the last one links


def _take_linker() -> int:
    """Return the number of the linker for one more library."""
    with _linker_lock:
        number = max(_linkers, default=0)
        if not _linkers or _linkers[number].linked >= _LIBRARIES_OF_A_LINKER:
            number += 1
            _linkers[number] = _Linker()
        _linkers[number].linked += 1
        _linkers[number].open += 1
        return number


def _leave_linker(number: int) -> None:
    """Record that a library was closed, and free old linkers without libraries."""
    with _linker_lock:
        linker = _linkers[number]
        linker.open -= 1
        for old in [k for k, each in _linkers.items() if not each.open and k != max(_linkers)]:
            _linkers.pop(old).jit.close()


def prepare_host() -> None:
    """Load LLVM and create the objects that all compilations for this machine share.

    These are its description, data layout, target and dynamic linker.
    """
    host_target().data_layout  # noqa: B018  # computed once, then kept
    own_target_machine(host_target())
    usable_cores()
    with _linker_lock:
        if not _linkers:
            _linkers[1] = _Linker()


class NativeLibrary:
    """One or more object files, linked into this process as a library of their own.

    object_bytes: an object, or several that refer to each other. symbols: addresses of names that
    the objects leave undefined. exports: names with callable addresses. process_symbols: look up
    names that are still undefined in this process (libm, libc). Every library has its own name
    space: equal symbol names in two libraries do not conflict. The code stays loaded until `close`,
    or until the library and all functions bound from it are gone.

    Programs for a CPU with more features than this one (XLA_EXPLORER_TARGET) can be loaded, which
    verifies them; calling them is refused. Raises NativeLinkError.
    """

    def __init__(
        self,
        object_bytes: bytes | Iterable[bytes],
        symbols: Mapping[str, int] | None = None,
        exports: Iterable[str] = (),
        *,
        process_symbols: bool = True,
        needs: Iterable[NativeLibrary] = (),
    ) -> None:
        self._tracker: Any = None
        self._needs = tuple(needs)
        builder = llvm().JITLibraryBuilder()
        images = [object_bytes] if isinstance(object_bytes, bytes) else list(object_bytes)
        for image in images:
            builder.add_object_img(image)
        for name, address in {**half_precision_symbols(), **(symbols or {})}.items():
            builder.import_symbol(name, address)
        self.exports = tuple(dict.fromkeys(exports))
        for name in self.exports:
            builder.export_symbol(name)
        if process_symbols:
            builder.add_current_process()
        self._linker = _take_linker()
        try:
            self._tracker = builder.link(_linkers[self._linker].jit, f"xla_explorer_{next(_names)}")
        except RuntimeError as problem:
            _leave_linker(self._linker)
            open_names = sorted(set().union(*map(undefined_symbols, images)) - set(symbols or ()))
            wanted = (
                f" (left undefined by the objects: {', '.join(open_names)})" if open_names else ""
            )
            raise NativeLinkError(
                f"cannot load native code: {problem}{wanted}",
                "pass the address of each undefined symbol in `symbols`",
            ) from None

    def function_address(self, name: str) -> int:
        """Return the address of an exported symbol.

        Valid until the library is closed. KeyError if it was not exported.
        """
        if self._tracker is None:
            raise ValueError("this native library is closed")
        address: int = self._tracker[name]
        return address

    def bind(
        self, name: str, restype: Any, argtypes: Iterable[Any], *, release_gil: bool = True
    ) -> Callable[..., Any]:
        """Return a ctypes function of an exported symbol; the function keeps the library loaded.

        release_gil: other Python threads run meanwhile (about 0.2 us a call more). Calls raise
        TargetAboveMachineError if the process compiles for a CPU with more than this machine's
        features.
        """
        if (why := why_not_here(host_target())) is not None:
            return _refusing(why)
        make = ctypes.CFUNCTYPE if release_gil else ctypes.PYFUNCTYPE
        function = make(restype, *argtypes)(self.function_address(name))
        function._native_library = self  # type: ignore[attr-defined]
        return function

    @property
    def closed(self) -> bool:
        """True once the code is unloaded."""
        return self._tracker is None

    def close(self) -> None:
        """Unload the code now. Calling a function bound from it afterwards crashes the process."""
        tracker, self._tracker = self._tracker, None
        if tracker is not None:
            tracker.close()
            _leave_linker(self._linker)

    def __del__(self) -> None:
        if (
            sys is not None and not sys.is_finalizing()
        ):  # at the very end modules have lost their names
            self.close()

    def __enter__(self) -> NativeLibrary:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self.closed else "loaded"
        return f"<NativeLibrary {', '.join(self.exports) or 'without exports'}: {state}>"


_shared_lock = threading.RLock()
# By the object's key and the exported symbols: a library says at its creation what it exports.
_shared: weakref.WeakValueDictionary[tuple[str, ...], NativeLibrary] = weakref.WeakValueDictionary()


def program_library(
    compiled: CompiledObject, symbols: Mapping[str, int], exports: Iterable[str]
) -> NativeLibrary:
    """Load a program. Its shared objects stay loaded as long as the library.

    symbols, exports: see `NativeLibrary`.
    """
    libraries = [_shared_library(shared) for shared in compiled.shared]
    addresses = {
        name: library.function_address(symbol)
        for shared, library in zip(compiled.shared, libraries, strict=True)
        for name, symbol in shared.symbols.items()
    }
    return NativeLibrary(compiled.objects, {**symbols, **addresses}, exports, needs=libraries)


def _shared_library(shared: SharedObject) -> NativeLibrary:
    """Return the loaded code of a shared object."""
    wanted = sorted(set(shared.symbols.values()))
    with _shared_lock:
        found = _shared.get((shared.key, *wanted))
        if found is None:
            found = NativeLibrary(shared.data, exports=wanted)
            _shared[(shared.key, *wanted)] = found
    return found


def _renew_shared_lock() -> None:
    """Renew the lock in a forked child: another thread may have held it during the fork."""
    global _shared_lock
    _shared_lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_shared_lock)


_HALF_CONVERSIONS = ("__extendhfsf2", "__truncsfhf2", "__truncdfhf2")
_half_lock = threading.RLock()
_half_libraries: dict[str, NativeLibrary | None] = {}


def half_precision_symbols() -> dict[str, int]:
    """Return addresses of half-precision conversions that code for this process may call.

    x86 CPUs without F16C have no instructions for them, and not every compiler's runtime has the
    functions. Empty if the CPU has the instructions.
    """
    target = host_target()
    if target.architecture not in X86 or target.has_half_conversions:
        return {}
    with _half_lock:
        key = target.cache_key()
        if key not in _half_libraries:
            _half_libraries[key] = None  # while it is made: it calls none of them itself
            definitions = support_functions(
                list(_HALF_CONVERSIONS), half_is_integer=False, has_c_library=True, linkage=""
            )
            objects = optimize_and_emit(LlvmModule((), support=definitions), target).objects
            _half_libraries[key] = NativeLibrary(objects, exports=_HALF_CONVERSIONS)
        library = _half_libraries[key]
    return (
        {name: library.function_address(name) for name in _HALF_CONVERSIONS}
        if library is not None
        else {}
    )


def _refusing(why: Reason) -> Callable[..., Any]:
    def refused(*_: Any) -> Any:
        raise TargetAboveMachineError(
            f"{why.message}: compiled and verified, not executed",
            f"{TARGET_VARIABLE} names this CPU; without it, programs run here",
        )

    return refused


_ELF_SYMBOL_TABLE_SECTION = 2


def undefined_symbols(object_bytes: bytes) -> set[str]:
    """Return the undefined symbols of a 64-bit little-endian ELF object; else empty."""
    if object_bytes[:6] != b"\x7fELF\x02\x01":
        return set()
    (section_offset,) = struct.unpack_from("<Q", object_bytes, 0x28)
    entry_size, count = struct.unpack_from("<HH", object_bytes, 0x3A)
    names: set[str] = set()
    for number in range(count):
        kind, _, _, offset, size, strings = struct.unpack_from(
            "<IQQQQI", object_bytes, section_offset + number * entry_size + 4
        )
        if kind != _ELF_SYMBOL_TABLE_SECTION:
            continue
        (string_offset,) = struct.unpack_from(
            "<Q", object_bytes, section_offset + strings * entry_size + 0x18
        )
        for place in range(offset, offset + size, 24):
            name, _, _, section = struct.unpack_from("<IBBH", object_bytes, place)
            if name and section == 0:
                start = string_offset + name
                names.add(object_bytes[start : object_bytes.index(b"\0", start)].decode())
    return names
