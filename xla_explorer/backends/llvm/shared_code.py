"""Loading of a program whose kernels may be those of other programs, loaded once a process."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterable, Mapping

from xla_explorer.backends.llvm.llvm_compiler import CompiledObject, SharedObject
from xla_explorer.backends.llvm.native_library import NativeLibrary

_lock = threading.RLock()
# By the object's key and the exported symbols: a library says at its creation what it exports.
_loaded: weakref.WeakValueDictionary[tuple[str, ...], NativeLibrary] = weakref.WeakValueDictionary()


def program_library(
    compiled: CompiledObject, symbols: Mapping[str, int], exports: Iterable[str]
) -> NativeLibrary:
    """Load a program. Its shared objects stay loaded as long as the library.

    symbols, exports: see `NativeLibrary`.
    """
    libraries = [_library(shared) for shared in compiled.shared]
    addresses = {
        name: library.function_address(symbol)
        for shared, library in zip(compiled.shared, libraries, strict=True)
        for name, symbol in shared.symbols.items()
    }
    return NativeLibrary(compiled.objects, {**symbols, **addresses}, exports, needs=libraries)


def _library(shared: SharedObject) -> NativeLibrary:
    """Return the loaded code of a shared object."""
    wanted = sorted(set(shared.symbols.values()))
    with _lock:
        found = _loaded.get((shared.key, *wanted))
        if found is None:
            found = NativeLibrary(shared.data, exports=wanted)
            _loaded[(shared.key, *wanted)] = found
    return found


def _after_fork() -> None:
    """Renew the lock in a forked child: another thread may have held it during the fork."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
