"""Reference solutions, cell by cell: fragments of a notebook, whose other cells define what is missing here."""
# ruff: noqa: F821
# %% nb12.elf
def machine_of(data):
    if data[:4] != b"\x7fELF":
        return None
    order = "little" if data[5] == 1 else "big"
    return int.from_bytes(data[18:20], order), 32 if data[4] == 1 else 64
# %% nb12.build
def build(module):
    return xe.aot(module, "riscv64-linux-gnu", features="+v", prefix="device")
