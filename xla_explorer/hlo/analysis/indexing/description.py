"""An instruction's index map as one line."""

from __future__ import annotations

from xla_explorer.foundation.reason import Reason
from xla_explorer.hlo.analysis.indexing.expression import Axis, index, place_text
from xla_explorer.hlo.analysis.indexing.reads import Read, reads_of
from xla_explorer.hlo.instruction import HloInstruction

_NAMES = "ijklmnpqrtuvwxyz"


def index_map_text(i: HloInstruction) -> str:
    """Return the index map of an instruction as text, empty if there is none."""
    shape = next(i.shape.leaves())[1]
    if not shape.is_array or not shape.element_count or shape.rank > len(_NAMES):
        return ""
    place = tuple([index(Axis(_NAMES[d], extent)) for d, extent in enumerate(shape.dimensions)])
    reads = reads_of(i, place)
    if isinstance(reads, Reason):
        return ""
    texts = [_read_text(i, read) for read in reads if not read.addressing]
    return f"{place_text(place)} <- {', '.join(texts)}" if texts else ""


def _read_text(i: HloInstruction, read: Read) -> str:
    where = f" where {' and '.join(map(str, read.guards))}" if read.guards else ""
    over = (
        f" for {', '.join([f'{axis} in {axis.extent}' for axis in read.over])}" if read.over else ""
    )
    return f"%{i.operands[read.operand].name}{place_text(read.place)}{over}{where}"
