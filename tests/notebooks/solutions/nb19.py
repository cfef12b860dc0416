"""Reference solutions, cell by cell: fragments of a notebook, whose other cells define what is missing here."""

# %% nb19.sectors
def sectors(addresses):
    return len({address // 32 for address in addresses})
# %% nb19.passes
def passes(addresses):
    words = {}
    for address in addresses:
        words.setdefault(address // 4 % 32, set()).add(address // 4)
    return max(map(len, words.values()), default=0)
# %% nb19.transpose
def turned(plain):
    tiles = plain.split("i", 32).split("j", 32).reorder("ii", "jo").block("io").block("jo")
    copied = tiles.stage("x", "jo", "shared", 33).split("jis", 8).unroll("jiso").thread("jisi").warp("iis")
    return copied.split("ii", 8).unroll("iio").thread("iii").warp("ji")
# %% nb19.fragment
def element_of(lane, number):
    return lane // 4 + 8 * (number // 2), 2 * (lane % 4) + number % 2
