"""Memory that compilations leave behind in the process: next to nothing, for any number of them."""

import ctypes
import gc
import sys

import pytest

import xla_explorer as xe
from xla_explorer.hlo.analysis.indexing import offsets


def resident_kib():
    offsets._OFFSETS.clear()  # a memory of bounded size, which as many small modules do not fill
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc, trims glibc's heap")
def test_memory_stays_flat_over_compilations_of_distinct_modules():
    def compile_number(k):
        n = 64 + k
        text = f"""HloModule m{k}
ENTRY e {{ p = f32[{n},8] parameter(0)
 a = f32[{n},8] add(p, p)
 b = f32[{n},8] exponential(a)
 ROOT r = f32[{n},8] multiply(b, p) }}"""
        xe.compile(text, cache=False, journal="off", threads=1)

    for k in range(300):
        compile_number(k)
    before = resident_kib()
    for k in range(300, 1000):
        compile_number(k)
    assert (resident_kib() - before) / 700 < 8
