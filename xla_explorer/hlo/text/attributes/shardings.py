"""Shardings and groups of devices as text: tiles, device lists, iota forms, meshes with axes.

Source: hlo_parser.cc ParseSharding, ParseSingleSharding, ParseTileAssignment, ParseMesh;
hlo_sharding.cc Print.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from xla_explorer.hlo.attributes.mesh_axes import part_problem
from xla_explorer.hlo.text.attributes.pieces import integer, integer_lists, listed, metadata_or_list
from xla_explorer.hlo.text.errors import TextError
from xla_explorer.hlo.text.tokens import ATTRIBUTE, IDENT, STRING, Tokens

_MOST_PLACES = 1 << 16
_EXAMPLES = "write {replicated}, {maximal device=0}, {devices=[2,1]<=[2]} ..."
_TYPES = ("replicated", "maximal", "manual", "unknown", "unreduced")  # the first of several counts


def _numbers(tokens: Tokens, opening: str = "[", closing: str = "]") -> list[int]:
    """Parse a list of integers that is not empty."""
    tokens.expect(opening, f"'{opening}' and numbers")
    found = [tokens.integer()]
    while tokens.eat(","):
        found.append(tokens.integer())
    tokens.expect(closing, f"',' or '{closing}'")
    return found


def _joined(numbers: list[int]) -> str:
    return ",".join(map(str, numbers))


def _iota(tokens: Tokens) -> str:
    """Parse `[4]` or `[2,2]T(1,0)`, the order of the devices."""
    start = tokens.start
    sizes = _numbers(tokens)
    if min(sizes) < 0:
        raise TextError(
            f"[{_joined(sizes)}] counts no devices",
            start,
            "write sizes from 1 on",
            tokens.previous_end - start,
        )
    if len(sizes) == 1:
        return f"[{sizes[0]}]"
    if tokens.kind != IDENT or tokens.value != "T":
        raise tokens.problem(
            "T( and the order of the dimensions",
            "with several dimensions write their order too: <=[2,2]T(1,0)",
        )
    tokens.advance()
    order = _numbers(tokens, "(", ")")
    if sorted(order) != list(range(len(sizes))):
        message = (
            f"the transpose T({_joined(order)}) must list each of the dimensions 0 to "
            f"{len(sizes) - 1} once"
        )
        raise TextError(message, start, "list each dimension once", tokens.previous_end - start)
    return f"[{_joined(sizes)}]T({_joined(order)})"


def _tiles(tokens: Tokens) -> tuple[list[int], str, list[int]]:
    """Parse `[2,2]<=[4]` or `[2,2]0,1,2,3`: (sizes, iota form, devices)."""
    sizes = _numbers(tokens)
    if tokens.eat("<="):
        return sizes, _iota(tokens), []
    devices = [tokens.integer()]
    while tokens.eat(","):
        devices.append(tokens.integer())
    return sizes, "", devices


def sharding(tokens: Tokens) -> str:
    """Parse a sharding: of one value, or in one more pair of braces of each element of a tuple."""
    tokens.expect("{", "a sharding in braces, such as {replicated}")
    if tokens.kind not in ("{", "}"):
        return _single(tokens)
    found = []
    if tokens.kind == "{":
        found.append(_element(tokens))
        while tokens.eat(","):
            found.append(_element(tokens))
    tokens.expect("}", "',' or '}'")
    return "{" + ", ".join(found) + "}"


def _element(tokens: Tokens) -> str:
    tokens.expect("{", "a sharding in braces")
    return _single(tokens)


@dataclass
class _Single:
    """The parts of one sharding, as they are read.

    iota: the text after `<=`. last: the text of the last tile dimensions.
    """

    types: set[str] = field(default_factory=set)
    sizes: list[int] = field(default_factory=list)
    devices: list[int] = field(default_factory=list)
    iota: str = ""
    group: str = ""
    last: str = ""
    metadata: str = ""

    @property
    def chosen(self) -> str | None:
        """The type that XLA uses, of several."""
        return next((one for one in _TYPES if one in self.types), None)

    def read_word(self, tokens: Tokens) -> None:
        """Parse a word such as `replicated` or `shard_as 1`."""
        kind = tokens.kind
        if kind in _TYPES:
            self.types.add(kind)
            tokens.advance()
        elif kind == "last_tile_dim_replicate":
            if "last_tile_dim_replicate" not in self.last:
                self.last += " last_tile_dim_replicate"
            tokens.advance()
        elif kind in ("shard_as", "shard_like"):
            tokens.advance()
            self.group = f" {kind} {integer(tokens)}"
        else:
            raise tokens.problem("a word of a sharding", _EXAMPLES)

    def read_attribute(self, tokens: Tokens) -> None:
        """Parse an attribute such as `devices=[2]0,1`."""
        at, name = tokens.start, tokens.value
        tokens.advance()
        if name == "device":
            self.devices = [tokens.integer()]
        elif name == "devices":
            if self.sizes:
                raise TextError(
                    "a sharding has one list of devices", at, "remove one of the two", len(name)
                )
            self.sizes, self.iota, self.devices = _tiles(tokens)
        elif name == "metadata":
            self.metadata = f" metadata={metadata_or_list(tokens)}"
        elif name == "last_tile_dims":
            self.last += f" last_tile_dims={{{', '.join(listed(tokens, _last_tile))}}}"
        else:
            hint = "a sharding has device=, devices=, last_tile_dims= and metadata="
            raise TextError(f"unknown attribute in sharding: {name}", at, hint, len(name))

    def contradiction(self) -> str:
        """Return the contradiction between the parts; empty if there is none."""
        if self.chosen == "maximal":
            one = len(self.devices) == 1
            return "" if one else "maximal shardings should have exactly one device assigned"
        if self.chosen is not None:
            kind = self.chosen
            return f"{kind} shardings should not have any devices assigned" if self.devices else ""
        if not self.sizes:
            return "non-maximal shardings must have a tile assignment list including dimensions"
        if not self.iota and len(self.devices) <= 1:
            return "non-maximal shardings must have more than one device assigned"
        sizes, places = _joined(self.sizes), math.prod(self.sizes)
        if min(self.sizes) < 1:
            return f"expects sizes of tiles from 1 on but sees devices=[{sizes}]"
        if len(self.devices) > places:
            return f"devices=[{sizes}] has {places} places for {len(self.devices)} devices"
        if self.last.count(" last_tile_dim") > 1:
            return "a sharding must define its last dimensions once"
        return ""

    def text(self) -> str:
        """Return the sharding without braces, in one spelling."""
        if self.chosen == "maximal":
            body = f"maximal device={self.devices[0]}"
        elif self.chosen is not None:
            body = self.chosen
        else:
            devices, places = self.devices, math.prod(self.sizes)
            if devices and places <= _MOST_PLACES:
                devices = devices + [0] * (places - len(devices))  # XLA's array holds zeros there
            ids = f"<={self.iota}" if self.iota else _joined(devices)
            body = f"devices=[{_joined(self.sizes)}]{ids}{self.last}"
        return body + self.group + self.metadata


def _single(tokens: Tokens) -> str:
    """Parse one sharding after its opening brace, including the closing brace."""
    if tokens.kind == IDENT and tokens.value in ("mesh", "maximal_mesh"):
        return _named(tokens)
    start, found = tokens.start, _Single()
    while tokens.kind != "}":
        if tokens.kind == ATTRIBUTE:
            found.read_attribute(tokens)
        else:
            found.read_word(tokens)
    problem = found.contradiction()
    if problem:
        raise TextError(problem, start, _EXAMPLES, max(tokens.end - start - 1, 1))
    tokens.advance()
    return "{" + found.text() + "}"


def _last_tile(tokens: Tokens) -> str:
    if tokens.kind not in ("maximal", "replicated", "manual", "unreduced"):
        raise tokens.problem("manual, replicated, maximal or unreduced")
    value = tokens.kind
    tokens.advance()
    return value


# -- meshes ----------------------------------------------------------------------------------------
def mesh(tokens: Tokens) -> tuple[str, dict[str, int]]:
    """Parse `mesh['x'=2,'y'=2]`, perhaps with `, device_ids=(...)`: (text, axes).

    The cursor is at `mesh`.
    """
    tokens.advance()
    axes: dict[str, int] = {}

    def axis(tokens: Tokens) -> str:
        at = tokens.start
        name = tokens.expect(STRING, "an axis such as 'x'=2")[1:-1]
        tokens.expect("=", "'=' and the size of the axis")
        if name in axes:
            raise TextError(
                f"the mesh has two axes '{name}'", at, "rename one of the two", len(name) + 2
            )
        axes[name] = tokens.integer()
        if axes[name] < 1:
            raise TextError(
                f"axis '{name}' has size {axes[name]}",
                at,
                "sizes of axes count from 1 on",
                tokens.previous_end - at,
            )
        return f"'{name}'={axes[name]}"

    text = f"mesh[{','.join(listed(tokens, axis, '[', ']'))}]"
    if tokens.kind == "," and Tokens(tokens.text, tokens.end).value == "device_ids":
        tokens.advance()
        start = tokens.start
        tokens.advance()
        tokens.expect("(", "'(' and the devices")
        if tokens.kind == "[":
            text += f", device_ids=({_iota(tokens)})"
        else:
            devices = [tokens.integer()]
            while tokens.eat(","):
                devices.append(tokens.integer())
            if len(devices) != math.prod(axes.values()):
                message = (
                    f"the mesh has {math.prod(axes.values())} places, but {len(devices)} devices"
                )
                raise TextError(
                    message, start, "name each device once", tokens.previous_end - start
                )
            text += f", device_ids=({_joined(devices)})"
        tokens.expect(")", "',' or ')'")
    return text, axes


# For each axis of a mesh, its parts in use: (steps before the part, steps up to its end).
_Parts = dict[str, list[tuple[int, int]]]


def _axes(tokens: Tokens, known: dict[str, int], used: _Parts, *, open_ended: bool = False) -> str:
    """Parse `{'x', 'y':(2)4}`, and add the axes to `used`.

    open_ended: the last may be a question mark.
    """
    closed = False
    previous = ("", 0)

    def axis(tokens: Tokens) -> str:
        nonlocal closed, previous
        if closed:
            raise tokens.problem("'}' after the question mark")
        if open_ended and tokens.eat("?"):
            closed = True
            return "?"
        at = tokens.start
        name = tokens.expect(STRING, "an axis of the mesh in quotes")[1:-1]
        if name not in known:
            raise TextError(
                f"the mesh has no axis '{name}'",
                at,
                f"the mesh has {', '.join(known) or 'no axes'}",
                len(name) + 2,
            )
        first, last, text = 1, known[name], f"'{name}'"
        if tokens.eat(":"):
            tokens.expect("(", "'(' and the steps before the part")
            first = tokens.integer()
            tokens.expect(")", "')'")
            size = tokens.integer()
            last, text = first * size, f"'{name}':({first}){size}"
        problem = part_problem(name, known[name], first, last, used.setdefault(name, []))
        if not problem and text[-1] != "'" and (first, last) == (1, known[name]):
            problem = f"{text} is the whole axis"
        if not problem and previous == (name, first):
            problem = f"{text} continues the part before it"
        if problem:
            raise TextError(
                problem,
                at,
                "name each axis, or each part such as 'x':(2)2, once",
                tokens.previous_end - at,
            )
        used[name].append((first, last))
        previous = (name, last)
        return text

    return "{" + ", ".join(listed(tokens, axis)) + "}"


def _named(tokens: Tokens) -> str:
    """Parse a sharding over the axes of a mesh, after its opening brace."""
    if tokens.value == "maximal_mesh":
        tokens.advance()
        tokens.expect("[", "'[' after maximal_mesh")
        if tokens.kind != ATTRIBUTE or tokens.value != "device_id":
            raise tokens.problem("device_id=")
        tokens.advance()
        body = f"maximal_mesh[device_id={integer(tokens)}]"
        tokens.expect("]", "']'")
    else:
        body, axes = mesh(tokens)
        used: _Parts = {}
        if tokens.eat(","):
            tokens.eat(",")  # XLA's parser passes two
        if tokens.kind in ("replicated", "unreduced", "manual"):
            body += f", {tokens.kind}"
            tokens.advance()
        else:
            what = "the axes of each dimension, such as [{'x'}, {}]"
            parts = listed(tokens, lambda t: _axes(t, axes, used, open_ended=True), "[", "]", what)
            body += f", [{', '.join(parts)}]"
            while tokens.kind == "," and Tokens(tokens.text, tokens.end).value in (
                "replicated",
                "unreduced",
                "manual",
            ):
                tokens.advance()
                name = tokens.expect(ATTRIBUTE, "replicated=, unreduced= or manual=")
                body += f", {name}={_axes(tokens, axes, used)}"
    if tokens.eat(","):
        if tokens.kind != ATTRIBUTE or tokens.value != "metadata":
            raise tokens.problem("metadata=")
        tokens.advance()
        body += f", metadata={metadata_or_list(tokens)}"
    tokens.expect("}", "',' or '}'")
    return "{" + body + "}"


def device_groups(tokens: Tokens) -> str:
    """Parse groups of devices: `{{0,1},{2,3}}`, `[2,2]<=[4]` or `mesh['x'=2,'y'=2] {'x'}`."""
    if tokens.kind == "{":
        return integer_lists(tokens)
    if tokens.kind == IDENT and tokens.value == "mesh":
        text, axes = mesh(tokens)
        if tokens.kind == "{" and tokens.look_ahead() == "}":
            raise TextError(
                "replica groups over no axis",
                tokens.start,
                "name the axes along which the devices of a group differ",
                2,
            )
        return f"{text} {_axes(tokens, axes, {})}"
    start = tokens.start
    sizes = _numbers(tokens)
    tokens.expect("<=", "'<=' after the sizes of the groups", "write [2,2]<=[4]")
    iota = _iota(tokens)
    if len(sizes) != 2:
        message = f"replica groups have two dimensions, not {len(sizes)}"
        raise TextError(
            message, start, "write [groups,size]<=[devices]", tokens.previous_end - start
        )
    return f"[{_joined(sizes)}]<={iota}"
