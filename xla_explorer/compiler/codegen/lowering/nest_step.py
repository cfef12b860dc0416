"""Steps that change a loop nest, between its schedule and the first instruction."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from xla_explorer.compiler.codegen.nest.ir import AxisKind, LoopNest

# Kinds of axes for whose steps a thread has instances of values.
INSTANCES = (AxisKind.UNROLLED, AxisKind.VECTOR)


class NestStep(NamedTuple):
    """A step of the lowering that changes a loop nest.

    Attributes
    ----------
    sentence : str
        What the step does.
    run : function
        Returns the changed nest; the same nest if nothing changes.
    for_cpus : bool
        False for a step that only kernels of a launch need.
    for_launches : bool
        False for a step that only kernels of a CPU need.
    """

    name: str
    sentence: str
    run: Callable[[LoopNest], LoopNest]
    for_cpus: bool = True
    for_launches: bool = True
