"""StableHLO, MHLO and CHLO text, without jaxlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xla_explorer.foundation.collector import collector_paused
from xla_explorer.foundation.floating_point import default_floating_point
from xla_explorer.foundation.keywords import explains_arguments
from xla_explorer.frontends.source_places import complete_source_places
from xla_explorer.frontends.stablehlo.conversion import ModuleConverter
from xla_explorer.frontends.stablehlo.errors import StablehloError, StablehloUnsupportedError
from xla_explorer.frontends.stablehlo.parser import Parser
from xla_explorer.frontends.stablehlo.pretty_forms import read_custom_form
from xla_explorer.frontends.stablehlo.reader import Reader
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.verifier import verify

__all__ = ["StablehloError", "StablehloUnsupportedError", "parse_stablehlo"]


@explains_arguments
@default_floating_point()
def parse_stablehlo(
    text: str | bytes,
    filename: str | None = None,
    *,
    function: str | None = None,
    shapes: Sequence[Any] | None = None,
) -> HloModule:
    """Return the HLO module of a StableHLO, MHLO or CHLO program in MLIR's text, pretty or generic.

    Locations become metadata (op_name, file, line). Shardings, aliases and donors of arguments are
    kept. Functions are specialised to the shapes of their calls. Source: StableHLO specification;
    XLA's translation of StableHLO to HLO.

    Parameters
    ----------
    text
        The program.
    filename
        The name that messages show.
    function
        The function to enter, with or without `@`, private or not; by default `main`, or the only
        public one, or the only one.
    shapes
        For a program with dynamic sizes (`tensor<?x3xf32>`): one for each argument of the function,
        a shape such as `(2, 3)`, or an array of that shape. A shape is a tuple of integers, `()`
        for a scalar. An argument whose value decides sizes is given by its value, such as
        `np.int64(2)`: the module is for that value, and takes the argument nevertheless. `None`
        leaves an argument unchanged.

    Returns
    -------
    HloModule
        The module.

    Raises
    ------
    StablehloError
        The text cannot be read; a caret shows the place.
    StablehloUnsupportedError
        HLO (or this reader) has no such operation; `reason` names it.
    HloVerifyError
        The program breaks a rule of an operation that only the whole module shows.

    Examples
    --------
    >>> import xla_explorer as xe
    >>> module = xe.parse_stablehlo('''func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
    ...   %0 = stablehlo.tanh %a : tensor<4xf32>
    ...   return %0 : tensor<4xf32>
    ... }''')
    >>> module.entry.root.opcode.name
    'tanh'
    """
    return read_program(text, filename, function=function, shapes=shapes)


def read_program(
    text: str | bytes,
    filename: str | None = None,
    open_result: str = "{replicated}",
    *,
    function: str | None = None,
    shapes: Sequence[Any] | None = None,
) -> HloModule:
    """Return the module of `parse_stablehlo`, with a default sharding for results.

    open_result: the sharding of results without one, if other results have one, as in XLA's
    translation.
    """
    if isinstance(text, bytes | bytearray):
        text = bytes(text).decode("utf-8", "replace")
    reader = Reader(text, filename)
    try:
        with collector_paused():
            module = ModuleConverter(
                Parser(reader, read_custom_form).program(), reader, open_result, function, shapes
            ).convert()
    except RecursionError:
        reader.fail(
            "regions, types or locations nest too deep, or an alias refers to itself",
            "simplify the program",
            0,
        )
    complete_source_places(module)
    verify(module)
    return module
