"""Notebook 12, retargeting with LLVM: object files for other machines, read by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xla_explorer.backends.aot.object_file import all_sections
from xla_explorer.course.checking.registry import Cases, WrongAnswerError, answering, exercise
from xla_explorer.course.checking.result import Failure
from xla_explorer.explorer.aot import AotPackage, aot
from xla_explorer.hlo.text import parse_hlo

AXPY = """HloModule axpy
ENTRY main { a = f32[] parameter(0)  x = f32[1000] parameter(1)  y = f32[1000] parameter(2)  as = f32[1000] broadcast(a), dimensions={}
  p = f32[1000] multiply(as, x)  ROOT r = f32[1000] add(p, y) }"""
_PRODUCT = """HloModule product
ENTRY main { x = f32[40,30] parameter(0)  y = f32[30,50] parameter(1)  e = f32[40,30] exponential(x)
  ROOT r = f32[40,50] dot(e, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} }"""
# triple -> (machine, bits) as the ELF header has them; None: its objects are no ELF
MACHINES = {
    "x86_64-linux-gnu": (62, 64),
    "aarch64-linux-gnu": (183, 64),
    "riscv64-linux-gnu": (243, 64),
    "armv7-linux-gnueabihf": (40, 32),
    "wasm32-unknown-unknown": None,
}


@exercise(
    "nb12.elf",
    "Write machine_of(data): (machine, bits) of an ELF object, None for other files.",
    "Look at the first four bytes.",
    hints=(
        "ELF files begin with 7f 45 4c 46; byte 4 encodes 32 or 64 bits, byte 5 the byte order.",
        "The machine is the 16-bit number at offset 18, in the file's own byte order.",
    ),
)
def elf(function: Callable[[bytes], Any]) -> Cases:
    """Check objects for five targets, and an artificial big-endian one."""
    module = parse_hlo(AXPY)
    objects = [
        (triple, want, aot(module, triple).object_bytes) for triple, want in MACHINES.items()
    ]
    objects.append(
        (
            "a big-endian machine",
            (21, 64),
            b"\x7fELF\x02\x02\x01" + bytes(9) + b"\x00\x01\x00\x15" + bytes(44),
        )
    )
    for triple, want, data in objects:
        got = function(data)
        if got != want:
            raise WrongAnswerError(
                Failure(
                    "wrong-machine",
                    f"The object for {triple} is something else.",
                    str(want),
                    repr(got),
                    module,
                    hint="Byte 4 is 1 for 32 and 2 for 64 bits, byte 5 is 1 for little- and 2 "
                    "for big-endian; the machine is in "
                    "bytes 18 and 19.",
                )
            )
        yield None


@exercise(
    "nb12.sections",
    "Write sections(data): {name: size in bytes} of the sections of an ELF object.",
    "First read where the table begins, how long an entry is and how many there are.",
    hints=(
        "data[4] selects the column of the table above, data[5] the byte order of every number.",
        (
            "The names' section is an entry like the others: its number is in the header, its "
            "place and size in its entry."
        ),
        "A name ends at the first zero byte: names[at : names.index(b'\\0', at)].decode().",
    ),
)
def sections(function: Callable[[bytes], Any]) -> Cases:
    """Check objects of 32 and 64 bits against LLVM's reading, and a small big-endian one."""
    texts = {"axpy": AXPY, "a product": _PRODUCT}
    objects = [
        (f"{name} for {triple}", aot(parse_hlo(text), triple).object_bytes)
        for name, text in texts.items() for triple in MACHINES if MACHINES[triple] is not None
    ]  # fmt: skip
    small = next(data for what, data in objects if "armv7" in what)
    objects.append(("flags of a machine of 32 bits", small[:36] + b"\1" + small[37:]))
    known = [(what, data, all_sections(data)) for what, data in objects]
    for what, data, want in [*known, ("a big-endian machine", *_big_endian())]:
        with answering():
            got = function(data)
        if not isinstance(got, dict):
            raise WrongAnswerError(
                Failure("no-table", "The answer is a dictionary.", "{name: size}", repr(got)[:300])
            )
        if got != want:
            hint = (
                "data[5] is 2 here: every number is big-endian." if what.startswith("a big") else ""
            )
            wrong = "wrong-names" if set(got) != set(want) else "wrong-sizes"
            message = f"The sections of the object ({what}) are other ones."
            raise WrongAnswerError(Failure(wrong, message, repr(want), repr(got)[:900], hint=hint))
        yield None


def _big_endian() -> tuple[bytes, dict[str, int]]:
    """Return an object of two sections for a big-endian machine, and their sizes."""
    names = b"\0.text\0.names\0"
    table = b""
    for name, begin, size in ((0, 0, 0), (1, 64, 8), (7, 72, len(names))):
        entry = bytearray(64)
        entry[0:4], entry[24:32], entry[32:40] = (
            name.to_bytes(4, "big"),
            begin.to_bytes(8, "big"),
            size.to_bytes(8, "big"),
        )
        table += bytes(entry)
    header = bytearray(64)
    header[:7], header[18:20] = b"\x7fELF\x02\x02\x01", (21).to_bytes(2, "big")
    header[40:48] = (72 + len(names)).to_bytes(8, "big")
    header[58:64] = b"".join([n.to_bytes(2, "big") for n in (64, 3, 2)])
    return bytes(header) + bytes(8) + names + table, {".text": 8, ".names": len(names)}


@exercise(
    "nb12.build",
    "Write build(module): a package for a RISC-V machine with vectors, with names that begin "
    "with `device`.",
    "xe.aot(module, triple) returns a package; look at its other arguments.",
    hints=(
        "The features of a target are a text such as +v; the names' beginning is an argument, too.",
    ),
)
def build(function: Callable[[Any], Any]) -> Cases:
    """Check the machine field, vector instructions in the assembly, the header's prefix."""
    for text in (AXPY, AXPY.replace("1000", "37"), AXPY.replace("add(p, y)", "maximum(p, y)")):
        module = parse_hlo(text)
        package = function(module)
        if not isinstance(package, AotPackage):
            raise WrongAnswerError(
                Failure(
                    "no-package",
                    "The answer is what xe.aot returns.",
                    "an AotPackage",
                    repr(package),
                    module,
                )
            )
        header = package.object_bytes[:20]
        if header[:5] != b"\x7fELF\x02" or int.from_bytes(header[18:20], "little") != 243:
            raise WrongAnswerError(
                Failure(
                    "wrong-machine",
                    "That is not a 64-bit RISC-V.",
                    "ELF, 64 bits, machine 243",
                    f"an object that begins with {header.hex(' ')}",
                    module,
                    hint="The triple begins with riscv64.",
                )
            )
        if "vset" not in package.assembly:
            raise WrongAnswerError(
                Failure(
                    "no-vectors",
                    "The code works on one element at a time.",
                    "vsetvli or vsetivli in the assembly",
                    str(package.assembly)[:600],
                    module,
                    hint="The base instruction set has no vectors; an extension has. features=... "
                    "names extensions as LLVM spells them.",
                )
            )
        if " device_run(" not in package.header:
            raise WrongAnswerError(
                Failure(
                    "wrong-prefix",
                    "The header declares other names.",
                    "device_run(...)",
                    package.header[:200],
                    module,
                    hint="prefix=...",
                )
            )
        yield None
