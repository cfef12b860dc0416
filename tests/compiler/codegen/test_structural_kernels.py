"""Kernels that move, combine and reduce elements, on both targets, against the evaluator."""

import pytest
import reduction_programs  # noqa: F401  (adds its programs)
from kernel_programs import PROGRAMS
from kernel_runner import check_kernels


@pytest.mark.parametrize("target", ["cpu", "gpu"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, target):
    text, inputs, options = PROGRAMS[name]
    # The numbers are around one: sums of either sign may come out small.
    check_kernels(text, *inputs, target=target, absolute=options.get("relative", 0.0), **options)
