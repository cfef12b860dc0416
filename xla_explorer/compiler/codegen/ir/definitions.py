"""Parts of a module besides its functions: globals, declarations, metadata, attributes."""

from __future__ import annotations

from typing import NamedTuple

_BACKSLASH = "\\"


class Global(NamedTuple):
    """A global constant or variable.

    type: as LLVM spells it. value: the bytes of an array of i8, or LLVM's spelling; empty for a
    variable that is defined elsewhere. space: its address space.
    """

    name: str
    type: str
    value: bytes | str
    alignment: int
    linkage: str = "private"
    space: int = 0
    is_constant: bool = True

    @property
    def text(self) -> str:
        """The definition as LLVM IR."""
        value = self.value
        if isinstance(value, bytes):
            value = f'c"{_BACKSLASH}{value.hex(_BACKSLASH).upper()}"' if value else 'c""'
        words = [
            self.linkage,
            *(["unnamed_addr"] if self.is_constant else []),
            *([f"addrspace({self.space})"] if self.space else []),
            "constant" if self.is_constant else "global",
            self.type,
            *([value] if value else []),
        ]
        return f"@{self.name} = {' '.join(words)}, align {self.alignment}"


def constant_bytes(name: str, data: bytes, alignment: int, space: int = 0) -> Global:
    """Return a private constant."""
    return Global(name, f"[{len(data)} x i8]", data, alignment, space=space)


class Declaration(NamedTuple):
    """A function that LLVM, a library or the backend defines.

    result, parameters: types as LLVM spells them. convention: of its calls; empty for that of C.
    """

    name: str
    result: str = "void"
    parameters: tuple[str, ...] = ()
    convention: str = ""

    @property
    def text(self) -> str:
        """The declaration as LLVM IR."""
        convention = f"{self.convention} " if self.convention else ""
        parameters = ", ".join(self.parameters)
        return f"declare {convention}{self.result} @{self.name}({parameters})"


class Metadata(NamedTuple):
    """A node of metadata, by number, or a named list of nodes."""

    name: int | str
    content: str

    @property
    def text(self) -> str:
        """The definition as LLVM IR."""
        return f"!{self.name} = {self.content}"


def node_list(*nodes: int) -> str:
    """Return the content of a list of nodes."""
    return f"!{{{', '.join([f'!{node}' for node in nodes])}}}"


class AttributeGroup(NamedTuple):
    """Attributes that functions refer to by number."""

    number: int
    attributes: str

    @property
    def text(self) -> str:
        """The definition as LLVM IR."""
        return f"attributes #{self.number} = {{ {self.attributes} }}"


Definition = Global | Metadata
EMPTY_NODE = Metadata(0, "!{}")  # of invariant loads
