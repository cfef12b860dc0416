"""Reference solutions, cell by cell: fragments of a notebook, whose other cells define what is missing here."""
# %% nb15.tile
def best_tile(registers):
    pairs = [(r, v) for r in range(1, registers) for v in range(1, registers) if r * v + v + 1 <= registers]
    return min(pairs, key=lambda p: (p[0] + p[1]) / (p[0] * p[1]))
# %% nb15.schedule
def scheduled(plain, lanes, rows, vectors):
    columns = plain.split("j", lanes * vectors).split("ji", lanes).vectorize("jii").unroll("jio")
    return columns.split("i", rows).unroll("ii")
# %% nb15.blocks
def blocks(n, cache):
    t = max(t for t in range(1, n + 1) if n % t == 0 and 12 * t * t <= cache)
    return t, 2 * t * t * (n // t) ** 3 + n * n
