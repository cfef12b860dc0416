"""Loading and unloading of native code."""

import ctypes
import gc

import pytest

from xla_explorer.backends.llvm.llvm_compiler import optimize_and_emit
from xla_explorer.backends.llvm.native_library import NativeLibrary, NativeLinkError

CALLS = """
declare i64 @callback(i64)
define i64 @twice(i64 %x) {
  %y = call i64 @callback(i64 %x)
  %z = mul i64 %y, 2
  ret i64 %z
}
"""


def constant(value, name="f"):
    return optimize_and_emit(f"define i64 @{name}() {{\n  ret i64 {value}\n}}\n").object_bytes


def test_symbols_by_address():
    callback = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(lambda x: x + 1)
    address = ctypes.cast(callback, ctypes.c_void_p).value
    library = NativeLibrary(optimize_and_emit(CALLS).object_bytes, {"callback": address}, ["twice"])
    assert library.bind("twice", ctypes.c_int64, [ctypes.c_int64])(20) == 42
    assert library.bind("twice", ctypes.c_int64, [ctypes.c_int64], release_gil=False)(1) == 4


def test_equal_names_do_not_meet():
    libraries = [NativeLibrary(constant(value), exports=["f"]) for value in range(5)]
    assert [library.bind("f", ctypes.c_int64, [])() for library in libraries] == list(range(5))


def test_several_objects_make_one_library():
    user = optimize_and_emit(
        "declare i64 @f()\ndefine i64 @g() {\n  %x = call i64 @f()\n  ret i64 %x\n}\n"
    )
    library = NativeLibrary([user.object_bytes, constant(7)], exports=["g", "f"])
    assert library.bind("g", ctypes.c_int64, [])() == 7


def test_bound_function_keeps_the_code():
    function = NativeLibrary(constant(11), exports=["f"]).bind("f", ctypes.c_int64, [])
    gc.collect()
    for value in range(20):
        NativeLibrary(constant(value), exports=["f"])
    assert function() == 11


def test_close():
    with NativeLibrary(constant(1), exports=["f"]) as library:
        assert not library.closed and "f" in repr(library)
    assert library.closed
    library.close()
    with pytest.raises(ValueError, match="closed"):
        library.function_address("f")


def test_not_exported():
    with pytest.raises(KeyError):
        NativeLibrary(constant(1), exports=["f"]).function_address("g")


def test_undefined_symbol_is_an_error():
    with pytest.raises(NativeLinkError, match="callback"):
        NativeLibrary(optimize_and_emit(CALLS).object_bytes, exports=["twice"])


def test_library_functions_of_the_process():
    source = (
        "declare double @cos(double)\ndefine double @g(double %x) {\n"
        "  %y = call double @cos(double %x)\n  ret double %y\n}\n"
    )
    library = NativeLibrary(optimize_and_emit(source).object_bytes, exports=["g"])
    assert library.bind("g", ctypes.c_double, [ctypes.c_double])(0.0) == 1.0
