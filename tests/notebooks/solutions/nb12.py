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
# %% nb12.sections
def sections(data):
    order = "little" if data[5] == 1 else "big"
    wide = data[4] == 2

    def number(at, size):
        return int.from_bytes(data[at : at + size], order)

    table = number(40, 8) if wide else number(32, 4)
    length, count, names = [number(at, 2) for at in ((58, 60, 62) if wide else (46, 48, 50))]

    def entry(k):
        at = table + k * length
        return number(at, 4), number(at + (24 if wide else 16), 8 if wide else 4), number(at + (32 if wide else 20), 8 if wide else 4)

    text = entry(names)[1]
    found = {}
    for k in range(1, count):
        name, _, size = entry(k)
        begin = text + name
        found[data[begin : data.index(0, begin)].decode()] = size
    return found
