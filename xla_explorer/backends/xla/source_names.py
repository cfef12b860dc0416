"""Preservation of instruction names through XLA.

jaxlib accepts programs only as StableHLO, and the conversion renames every instruction. Metadata
survives: each instruction is sent with its own name as `op_name`. Names, metadata and stack frames
are restored in every text that comes back.
"""

from __future__ import annotations

from xla_explorer.backends.xla.stablehlo_forms import write_for_stablehlo
from xla_explorer.frontends.hlo_proto.large_constants import Payload, extract_constants
from xla_explorer.hlo.attributes import attributes_of
from xla_explorer.hlo.metadata import OpMetadata, write_metadata
from xla_explorer.hlo.module import HloModule
from xla_explorer.hlo.text import PrintOptions

# XLA makes names of new instructions from the last component of such a path.
_MARK = "xla_explorer/"


class SourceNames:
    """The conversion of one module to StableHLO and the restoration of its names.

    restored: XLA's name to ours, for each instruction of the last text. text, constants: the
    request; values of large constants by their names.
    """

    def __init__(self, source: HloModule) -> None:
        self._frames = source.frames
        self._metadata = {i.name: i.metadata for i in source.instructions()}
        self._opcodes = {i.name: i.opcode.name for i in source.instructions()}
        self._ours: dict[str, str] | None = None
        self._copies: dict[
            tuple[str, str], str
        ] = {}  # XLA's name and the mark of what it made itself -> the name that it got first
        self.restored: dict[str, str] = {}
        sent = source.clone()
        sent.frames = None
        for i in sent.instructions():
            i.parent.set_metadata(i, write_metadata(OpMetadata(op_name=_MARK + i.name)))
            if (
                "is_composite" in i.attributes
            ):  # StableHLO's composites of several results are not read back
                i.parent.set_attributes(
                    i,
                    attributes_of(
                        {
                            name: value
                            for name, value in i.attributes.items()
                            if name != "is_composite"
                        }
                    ),
                )
        write_for_stablehlo(sent)
        self.constants: dict[str, Payload] = extract_constants(sent)
        self.text = sent.to_text(PrintOptions.short_parsable.but(metadata=True))

    @property
    def request(self) -> tuple[str, str, dict[str, Payload]]:
        """Return the child's request that compiles the module."""
        return "compile", self.text, self.constants

    def restore(self, module: HloModule) -> None:
        """Restore names and metadata of the source in one of XLA's texts, given in order."""
        marks = {}
        for i in module.instructions():
            said = i.op_metadata.op_name
            # XLA may put the name of a called computation's caller in front.
            name = said[said.rindex(_MARK) + len(_MARK) :] if _MARK in said else ""
            if name in self._metadata:
                marks[i] = name
        if self._ours is None:
            # The first text: one instruction bears each mark, or several where the conversion wrote
            # one operation as some.
            self._ours = {}
            taken = set()
            for i, name in marks.items():
                # A reduction lends its mark to the body that it calls: only the same opcode is the
                # instruction itself.
                if name not in taken and i.opcode.name == self._opcodes[name]:
                    taken.add(name)
                    self._ours[i.name] = name
        names = {i: self._ours[i.name] for i in module.instructions() if i.name in self._ours}
        copies = [
            (i, name)
            for i, name in marks.items()
            if i not in names and i.opcode.name == self._opcodes[name]
        ]
        # XLA's own names that are also of the source are changed below.
        taken = set(names.values()) | {
            i.name for i in module.instructions() if i not in names and i.name not in self._metadata
        }
        # A copy that XLA made, into a fusion say, under a name of its own: what it is called in one
        # text it is called in all.
        for i, name in copies:
            known = self._copies.get((i.name, name))
            if known is not None and known not in taken:
                names[i] = known
                taken.add(known)
        for i, name in copies:
            if i not in names:
                names[i] = self._copies[i.name, name] = _free(name, taken, ".clone")
        self.restored = {}
        for i in list(module.instructions()):
            theirs = i.name
            # XLA's own may be called by chance as something in the source.
            i.name = (
                names[i]
                if i in names
                else _free(i.name, set(self._metadata), ".xla")
                if i.name in self._metadata
                else i.name
            )
            self.restored[theirs] = i.name
            i.parent.set_metadata(i, self._metadata[marks[i]] if i in marks else None)
        module.frames = self._frames


def _free(name: str, taken: set[str], ending: str) -> str:
    """Return `name`, with a suffix if it is taken, and mark it as taken."""
    made, number = name, 0
    while made in taken:
        number += 1
        made = f"{name}{ending}" + (f".{number}" if number > 1 else "")
    taken.add(made)
    return made
