"""Wrong answers to the exercises of notebook 12."""

from __future__ import annotations

from typing import Any

import xla_explorer as xe
from tests.explorer.course.mistakes import edited, mistake, solution

ELF = solution("nb12.elf", "machine_of")
mistake("nb12.elf", "wrong-machine")(
    lambda data: (int.from_bytes(data[18:20], "little"), 64) if data[:4] == b"\x7fELF" else None
)
mistake("nb12.elf", "wrong-machine")(
    lambda data: (
        (int.from_bytes(data[18:20], "little"), 32 * data[4]) if data[:4] == b"\x7fELF" else None
    )
)
mistake("nb12.elf", "wrong-machine")(
    lambda data: (int.from_bytes(data[18:20], "little"), 32 * data[4])
)
mistake("nb12.build", "wrong-machine")(
    lambda module: xe.aot(module, "aarch64-linux-gnu", prefix="device")
)
mistake("nb12.build", "no-vectors")(
    lambda module: xe.aot(module, "riscv64-linux-gnu", prefix="device")
)
mistake("nb12.build", "wrong-prefix")(
    lambda module: xe.aot(module, "riscv64-linux-gnu", features="+v")
)
mistake("nb12.elf", "wrong-machine")(
    lambda data: (data[18], 32 if data[4] == 1 else 64) if data[:4] == b"\x7fELF" else None
)
mistake("nb12.elf", "wrong-machine")(lambda data: ELF(data)[::-1] if ELF(data) else None)
mistake("nb12.elf", "wrong-machine")(lambda data: ELF(data) or (0, 0))
mistake("nb12.elf", "wrong-machine")(lambda data: (62, 64))
mistake("nb12.elf", "wrong-machine")(lambda data: None)
mistake("nb12.build", "no-package")(
    lambda module: xe.aot(module, "riscv64-linux-gnu", features="+v", prefix="device").object_bytes
)
mistake("nb12.build", "wrong-machine")(
    lambda module: xe.aot(module, "x86_64-linux-gnu", prefix="device")
)
mistake("nb12.build", "wrong-prefix")(
    lambda module: xe.aot(module, "riscv64-linux-gnu", features="+v", prefix="my_device")
)


def changed(*edits: tuple[str, str]) -> Any:
    return edited("nb12.sections", "sections", *edits)


SECTIONS = changed()
mistake("nb12.sections", "wrong-names")(changed(("range(1, count)", "range(count)")))
mistake("nb12.sections", "wrong-names")(changed(("range(1, count)", "range(1, count - 1)")))
mistake("nb12.sections", "wrong-sizes")(
    changed(("name, _, size = entry(k)", "name, size, _ = entry(k)"))
)
mistake("nb12.sections", "wrong-names")(changed(("text = entry(names)[1]", "text = entry(1)[1]")))
mistake("nb12.sections", "raised-ValueError")(
    changed(("begin = text + name", "begin = table + name + len(data)"))
)
mistake("nb12.sections", "wrong-names")(changed(("data.index(0, begin)", "begin + 5")))
mistake("nb12.sections", "wrong-names")(changed((".decode()] = size", ".decode()[1:]] = size")))
mistake("nb12.sections", "no-table")(lambda data: list(SECTIONS(data).items()))
mistake("nb12.sections", "no-table")(lambda data: None)
mistake("nb12.sections", "wrong-names")(
    lambda data: {name: size for name, size in SECTIONS(data).items() if size}
)
mistake("nb12.sections", "wrong-names")(lambda data: {".text": SECTIONS(data)[".text"]})
mistake("nb12.sections", "wrong-sizes")(
    lambda data: {name: hex(size) for name, size in SECTIONS(data).items()}
)


def built(triple: str = "riscv64-linux-gnu", features: str = "+v", prefix: str = "device") -> Any:
    return lambda module: xe.aot(module, triple, features=features, prefix=prefix)


mistake("nb12.build", "no-vectors")(built(features=""))
mistake("nb12.build", "no-vectors")(
    built(features="+m,+f,+d")
)  # multiplication and floating point, as usual
mistake("nb12.build", "no-vectors")(built(features="-v"))
mistake("nb12.build", "no-vectors")(built(features="+c"))
mistake("nb12.build", "wrong-prefix")(built(prefix="Device"))
mistake("nb12.build", "wrong-prefix")(built(prefix="device_run"))  # the whole name
mistake("nb12.build", "raised-AotArgumentError")(built(prefix="device_"))
mistake("nb12.build", "wrong-prefix")(built(prefix="axpy"))  # the module's name
mistake("nb12.build", "wrong-machine")(built("wasm32-unknown-unknown", ""))
mistake("nb12.build", "wrong-machine")(built("armv7-linux-gnueabihf", ""))
mistake("nb12.build", "no-package")(lambda module: None)
mistake("nb12.build", "no-package")(lambda module: built()(module).assembly)
mistake("nb12.build", "no-package")(lambda module: xe.compile(module))
mistake("nb12.build", "no-package")(lambda module: ("riscv64-linux-gnu", "+v", "device"))
mistake("nb12.build", "raised-TypeError")(
    lambda module: xe.aot(module, "riscv64-linux-gnu", vectors=True, prefix="device")
)


@mistake("nb12.build", "raised-AotArgumentError")
def _(module):  # the prefix is put into the text afterwards
    package = built(prefix="")(module)
    package.header.replace("run", "device_run")
    return package


def told(
    place: int = 18, length: int = 2, order: Any = None, bits: Any = None, magic: int = 4
) -> Any:
    """Answers to nb12.elf that read another place, or in another order."""

    def machine_of(data: bytes) -> Any:
        if data[:magic] != b"\x7fELF"[:magic]:
            return None
        found = order or ("little" if data[5] == 1 else "big")
        return int.from_bytes(data[place : place + length], found), bits(
            data
        ) if bits else 32 if data[4] == 1 else 64

    return machine_of


mistake("nb12.elf", "wrong-machine")(told(place=16))  # the kind of file
mistake("nb12.elf", "wrong-machine")(told(place=17))
mistake("nb12.elf", "wrong-machine")(told(place=20))  # the version
mistake("nb12.elf", "wrong-machine")(told(length=4))
mistake("nb12.elf", "wrong-machine")(told(length=1))
mistake("nb12.elf", "wrong-machine")(told(order="big"))
mistake("nb12.elf", "wrong-machine")(told(bits=lambda data: data[4]))  # the code, not the bits
mistake("nb12.elf", "wrong-machine")(told(bits=lambda data: 32 * data[5]))
mistake("nb12.elf", "wrong-machine")(told(bits=lambda data: 64 if data[4] == 1 else 32))
mistake("nb12.elf", "wrong-machine")(told(magic=0))  # every file is one
mistake("nb12.elf", "wrong-machine")(lambda data: hex(ELF(data)[0]) if ELF(data) else None)
mistake("nb12.elf", "wrong-machine")(lambda data: list(ELF(data)) if ELF(data) else None)
