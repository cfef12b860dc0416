"""Time in which code generation writes and prints 10,000 instructions"""

import time

import pytest

from tests.support.pace import processor_seconds
from xla_explorer.compiler.codegen.function_writer import FunctionWriter
from xla_explorer.compiler.codegen.ir.structured_builder import StructuredBuilder
from xla_explorer.compiler.codegen.ir.types import F32

COUNT = 10_000


def _milliseconds(work):
    """Return the least processor time of several."""
    times = []
    for _ in range(15):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return 1e3 * min(times)


def typed(b):
    x = b.named("%x", F32)
    for _ in range(COUNT // 2):
        x = b.arithmetic("mul", x, x, "contract")
        x = b.arithmetic("add", x, x, "contract")


def typed_in_order():
    w = FunctionWriter()
    typed(w)
    return w.lines()


def placed():
    b = StructuredBuilder()
    typed(b)
    return b.lines()


@pytest.mark.performance
@pytest.mark.parametrize(("work", "most"), [(typed_in_order, 8.0), (placed, 16.0)])
def test_text_time(work, most):
    assert len(work()) == COUNT
    taken, limit = _milliseconds(work), 1e3 * processor_seconds(most / 1e3)
    print(f"{work.__name__}: {taken:.1f} ms for {COUNT:,} instructions, at most {limit:.1f}")
    assert taken < limit
