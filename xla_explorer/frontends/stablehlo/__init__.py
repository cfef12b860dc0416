"""StableHLO and MHLO text to HLO, without jaxlib."""

from __future__ import annotations

from xla_explorer.foundation.collector import collector_paused
from xla_explorer.frontends.source_places import complete_source_places
from xla_explorer.frontends.stablehlo.conversion import ModuleConverter
from xla_explorer.frontends.stablehlo.errors import StablehloError, StablehloUnsupportedError
from xla_explorer.frontends.stablehlo.parser import Parser
from xla_explorer.frontends.stablehlo.pretty_forms import read_custom_form
from xla_explorer.frontends.stablehlo.reader import Reader
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.verifier import verify

__all__ = ["StablehloError", "StablehloUnsupportedError", "parse_stablehlo"]


def parse_stablehlo(text: str | bytes, filename: str | None = None) -> HloModule:
    """The HLO module of a StableHLO (or MHLO, with CHLO) program in MLIR's textual form, pretty or generic.

    The entry is the function `main`, or the only public one. Locations become metadata (op_name, file, line); shardings, aliases and donors
    of arguments are kept; functions are specialised to the shapes that they are called with.

    Raises:
        StablehloError: the text cannot be read; a caret shows the place.
        StablehloUnsupportedError: HLO (or ours) has no such thing; `reason` says which.
        HloVerifyError: the program breaks a rule of an operation that only the whole module shows.

    Source: StableHLO specification; XLA's translation of StableHLO to HLO.
    """
    if isinstance(text, bytes | bytearray):
        text = bytes(text).decode("utf-8", "replace")
    reader = Reader(text, filename)
    try:
        with collector_paused():
            module = ModuleConverter(Parser(reader, read_custom_form).program(), reader).convert()
    except RecursionError:
        reader.fail("regions, types or locations nest too deep, or an alias stands for itself", "simplify the program", 0)
    complete_source_places(module)
    verify(module)
    return module
