"""Kernels that move, combine and reduce elements, on both targets, against the evaluator."""

import pytest

import tests.compiler.codegen.reduction_programs  # noqa: F401  (adds its programs)
from tests.compiler.codegen.kernel_programs import PROGRAMS
from tests.compiler.codegen.kernel_runner import check_kernels


@pytest.mark.parametrize("target", ["cpu", "gpu"])
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.sampled(60)
def test_program(name, target):
    text, inputs, options = PROGRAMS[name]
    # The numbers are around one: sums of either sign may come out small.
    check_kernels(text, *inputs, target=target, absolute=options.get("relative", 0.0), **options)
