"""A shared object with GetPjrtApi for hosts that load a file, written without a linker.

Such hosts read PJRT_NAMES_AND_LIBRARY_PATHS, or are torch_xla. The host must be a Python process
that can import xla_explorer: the one function calls `xla_explorer.pjrt.table_address` for the
table. The function is position-independent machine code, whose argument is a table of addresses and
strings. The dynamic loader fills in the addresses of Python's functions, and a stub of a few bytes
passes the table.
"""

from __future__ import annotations

import platform
import struct

from xla_explorer.backends.llvm.llvm_compiler import optimize_and_emit
from xla_explorer.compiler.codegen.ir.types import I8, I32, PTR, Type
from xla_explorer.compiler.codegen.ir.values import Value
from xla_explorer.foundation.diagnostic import XlaExplorerError
from xla_explorer.pjrt.native.function import NativeFunction, module_text

EXPORTS = (
    "GetPjrtApi",
    "GetPjRtApi",
)  # jaxlib and TensorFlow look up the first, some hosts the second
MODULE, ATTRIBUTE, SONAME = "xla_explorer.pjrt", "table_address", "libxla_explorer_pjrt.so"
_IMPORTS = (
    "Py_IsInitialized", "PyGILState_Ensure", "PyGILState_Release", "PyImport_ImportModule", "PyObject_GetAttrString", "PyObject_CallNoArgs",
    "PyLong_AsVoidPtr", "PyErr_Print",
)  # fmt: skip
_CACHED = len(_IMPORTS)  # word of the table: the answer, once it is known
_STRINGS = 8 * (_CACHED + 1)
_PAGE = 0x1000
_EXECUTABLE = 4  # SHF_EXECINSTR


class SharedObjectError(XlaExplorerError):
    """The file cannot be written for this machine."""


def code_text() -> str:
    """Return `ptr find(ptr table)` as LLVM IR."""
    f = NativeFunction("find")
    w, (table,) = f.writer, f.parameters

    def call(name: str, result: Type, *operands: Value) -> Value:
        function = w.load(f.element(table, _IMPORTS.index(name)), PTR)
        answer = f.call_pointer(function, result, *operands)
        assert answer is not None
        return answer

    cached = w.load(f.element(table, _CACHED), PTR)
    with f.when(f.as_integer(cached).differs(0)):
        f.give(cached)
    with f.when(call("Py_IsInitialized", I32).equals(0)):
        f.give()
    state = call("PyGILState_Ensure", I32)
    found = w.stack_slot(PTR)
    w.store(f.null, found)
    module = call("PyImport_ImportModule", PTR, _string(f, table, 0))
    with f.when(f.as_integer(module).differs(0)):
        function = call("PyObject_GetAttrString", PTR, module, _string(f, table, len(MODULE) + 1))
        with f.when(f.as_integer(function).differs(0)):
            number = call("PyObject_CallNoArgs", PTR, function)
            with f.when(f.as_integer(number).differs(0)):
                w.store(call("PyLong_AsVoidPtr", PTR, number), found)
    answer = w.load(found, PTR)
    with f.when(f.as_integer(answer).equals(0)):
        f.call_pointer(w.load(f.element(table, _IMPORTS.index("PyErr_Print")), PTR), None)
    w.store(answer, f.element(table, _CACHED))
    f.call_pointer(w.load(f.element(table, _IMPORTS.index("PyGILState_Release")), PTR), None, state)
    f.give(answer)
    return module_text([f], "")


def _string(f: NativeFunction, table: Value, offset: int) -> Value:
    return f.writer.address(table, I8, _STRINGS + offset)


def machine_code() -> bytes:
    """Return the code of `find`: the executable section of LLVM's object, without relocations."""
    image = optimize_and_emit(code_text(), level=1).object_bytes
    if image[:6] != b"\x7fELF\x02\x01":
        raise SharedObjectError(
            "shared objects are written for 64-bit ELF systems only",
            "use the entry point jax_plugins",
        )
    (offset,) = struct.unpack_from("<Q", image, 0x28)
    size, count, names_at = struct.unpack_from("<HHH", image, 0x3A)
    rows = [struct.unpack_from("<IIQQQQ", image, offset + k * size) for k in range(count)]
    names = rows[names_at][4]
    found = {
        image[names + row[0] : image.index(b"\0", names + row[0])].decode(): row for row in rows
    }
    code = [
        (name, row[4], row[5]) for name, row in found.items() if row[2] & _EXECUTABLE and row[5]
    ]  # .text, or .ltext
    if len(code) != 1 or f".rela{code[0][0]}" in found:
        raise SharedObjectError(
            "the code of the shared object needs a linker",
            "report this with the output of xla-explorer doctor",
        )
    _, start, length = code[0]
    return image[start : start + length]


def _stub(at: int, table: int, code: int) -> tuple[int, int, bytes]:
    """Return (ELF machine, relocation type of an address, code of the stub).

    The stub is at `at`, and calls `code` with the table.
    """
    machine = platform.machine()
    if machine in ("x86_64", "AMD64"):
        load = b"\x48\x8d\x3d" + struct.pack("<i", table - (at + 7))  # lea rdi, [rip + table]
        return 62, 6, load + b"\xe9" + struct.pack("<i", code - (at + 12))  # jmp; R_X86_64_GLOB_DAT
    if machine in ("aarch64", "arm64"):
        pages = (table >> 12) - (at >> 12)
        adrp = 0x90000000 | (pages & 3) << 29 | (pages >> 2 & 0x7FFFF) << 5
        add = 0x91000000 | (table & 0xFFF) << 10
        return (
            183,
            1025,
            struct.pack("<3I", adrp, add, 0x14000000 | (code - at - 8) >> 2 & 0x3FFFFFF),
        )  # R_AARCH64_GLOB_DAT
    raise SharedObjectError(
        f"shared objects are written for x86-64 and aarch64, this is {machine}",
        "use the entry point jax_plugins",
    )


def _aligned(at: int, to: int = 16) -> int:
    return -(-at // to) * to


def shared_object() -> bytes:
    """Return the file: an executable segment, and a writable one with section and table."""
    names, offsets = bytearray(b"\0"), {}
    for name in (*EXPORTS, *_IMPORTS, SONAME):
        offsets[name] = len(names)
        names += name.encode() + b"\0"
    code = machine_code()
    at_stub = 64 + 4 * 56
    at_code = at_stub + 32
    at_names = _aligned(at_code + len(code))
    at_symbols = _aligned(at_names + len(names))
    count = 1 + len(EXPORTS) + len(_IMPORTS)
    at_hash = at_symbols + 24 * count
    at_relocations = _aligned(at_hash + 4 * (3 + count))
    end = at_relocations + 24 * len(_IMPORTS)
    at_dynamic = _aligned(end, _PAGE)
    at_table = at_dynamic + 16 * 10
    machine, relocation, stub = _stub(at_stub, at_table, at_code)
    symbols = bytes(24) + b"".join(
        [struct.pack("<IBBHQQ", offsets[n], 0x12, 0, 1, at_stub, len(stub)) for n in EXPORTS]
    )
    symbols += b"".join([struct.pack("<IBBHQQ", offsets[n], 0x12, 0, 0, 0, 0) for n in _IMPORTS])
    chain = struct.pack(
        f"<{3 + count}I", 1, count, 1, 0, *[k + 1 if k + 1 < count else 0 for k in range(1, count)]
    )  # one bucket for all
    first = 1 + len(EXPORTS)
    relocations = b"".join(
        [
            struct.pack("<QQq", at_table + 8 * k, (first + k) << 32 | relocation, 0)
            for k in range(len(_IMPORTS))
        ]
    )
    entries = [(14, offsets[SONAME]), (4, at_hash), (5, at_names), (6, at_symbols), (10, len(names)), (11, 24), (7, at_relocations),
               (8, len(relocations)), (9, 24), (0, 0)]  # fmt: skip
    table = bytes(_STRINGS) + MODULE.encode() + b"\0" + ATTRIBUTE.encode() + b"\0"
    data = b"".join([struct.pack("<QQ", *entry) for entry in entries]) + table
    out = b"\x7fELF\x02\x01\x01" + bytes(9)
    out += struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 64, 0, 0, 64, 56, 4, 64, 0, 0)
    out += struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, end, end, _PAGE)  # PT_LOAD, to read and execute
    out += struct.pack(
        "<IIQQQQQQ", 1, 6, at_dynamic, at_dynamic, at_dynamic, len(data), len(data), _PAGE
    )  # PT_LOAD, to write
    out += struct.pack(
        "<IIQQQQQQ", 2, 6, at_dynamic, at_dynamic, at_dynamic, 160, 160, 8
    )  # PT_DYNAMIC
    out += struct.pack(
        "<IIQQQQQQ", 0x6474E551, 6, 0, 0, 0, 0, 0, 16
    )  # PT_GNU_STACK: not to be executed
    for at, part in ((at_stub, stub), (at_code, code), (at_names, bytes(names)), (at_symbols, symbols), (at_hash, chain),
                     (at_relocations, relocations), (at_dynamic, data)):  # fmt: skip
        assert len(out) <= at
        out = out.ljust(at, b"\0") + part
    return out
