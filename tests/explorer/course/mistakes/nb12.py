"""Wrong answers to the exercises of notebook 12."""

from __future__ import annotations

from typing import Any

import xla_explorer as xe
from tests.explorer.course.mistakes import mistake, solution
from tests.notebooks.course_notebooks import solution_cells

ELF = solution("nb12.elf", "machine_of")
mistake("nb12.elf", "wrong-machine")(lambda data: (int.from_bytes(data[18:20], "little"), 64) if data[:4] == b"\x7fELF" else None)
mistake("nb12.elf", "wrong-machine")(lambda data: (int.from_bytes(data[18:20], "little"), 32 * data[4]) if data[:4] == b"\x7fELF" else None)
mistake("nb12.elf", "wrong-machine")(lambda data: (int.from_bytes(data[18:20], "little"), 32 * data[4]))
mistake("nb12.build", "wrong-machine")(lambda module: xe.aot(module, "aarch64-linux-gnu", prefix="device"))
mistake("nb12.build", "no-vectors")(lambda module: xe.aot(module, "riscv64-linux-gnu", prefix="device"))
mistake("nb12.build", "wrong-prefix")(lambda module: xe.aot(module, "riscv64-linux-gnu", features="+v"))
mistake("nb12.elf", "wrong-machine")(lambda data: (data[18], 32 if data[4] == 1 else 64) if data[:4] == b"\x7fELF" else None)
mistake("nb12.elf", "wrong-machine")(lambda data: ELF(data)[::-1] if ELF(data) else None)
mistake("nb12.elf", "wrong-machine")(lambda data: ELF(data) or (0, 0))
mistake("nb12.elf", "wrong-machine")(lambda data: (62, 64))
mistake("nb12.elf", "wrong-machine")(lambda data: None)
mistake("nb12.build", "no-package")(lambda module: xe.aot(module, "riscv64-linux-gnu", features="+v", prefix="device").object_bytes)
mistake("nb12.build", "wrong-machine")(lambda module: xe.aot(module, "x86_64-linux-gnu", prefix="device"))
mistake("nb12.build", "wrong-prefix")(lambda module: xe.aot(module, "riscv64-linux-gnu", features="+v", prefix="my_device"))

def changed(*edits: tuple[str, str]) -> Any:
    """The reference with texts replaced, each of which must be there."""
    source = solution_cells()["nb12.sections"]
    for old, new in edits:
        assert old in source, old
        source = source.replace(old, new)
    scope: dict[str, Any] = {}
    exec(source, scope)
    return scope["sections"]


SECTIONS = changed()
mistake("nb12.sections", "wrong-names")(changed(("range(1, count)", "range(count)")))
mistake("nb12.sections", "wrong-names")(changed(("range(1, count)", "range(1, count - 1)")))
mistake("nb12.sections", "wrong-sizes")(changed(("name, _, size = entry(k)", "name, size, _ = entry(k)")))
mistake("nb12.sections", "wrong-names")(changed(("text = entry(names)[1]", "text = entry(1)[1]")))
mistake("nb12.sections", "raised-ValueError")(changed(("begin = text + name", "begin = table + name + len(data)")))
mistake("nb12.sections", "wrong-names")(changed(("data.index(0, begin)", "begin + 5")))
mistake("nb12.sections", "wrong-names")(changed((".decode()] = size", ".decode()[1:]] = size")))
mistake("nb12.sections", "no-table")(lambda data: list(SECTIONS(data).items()))
mistake("nb12.sections", "no-table")(lambda data: None)
mistake("nb12.sections", "wrong-names")(lambda data: {name: size for name, size in SECTIONS(data).items() if size})
mistake("nb12.sections", "wrong-names")(lambda data: {".text": SECTIONS(data)[".text"]})
mistake("nb12.sections", "wrong-sizes")(lambda data: {name: hex(size) for name, size in SECTIONS(data).items()})
