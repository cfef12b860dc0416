"""Kernels that move, combine and reduce elements, on both targets, against the evaluator."""

import pytest
from kernel_programs import PROGRAMS
from kernel_runner import check_kernels


@pytest.mark.parametrize("target", ("cpu", "gpu"))
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, target):
    text, inputs, options = PROGRAMS[name]
    check_kernels(text, *inputs, target=target, **options)
