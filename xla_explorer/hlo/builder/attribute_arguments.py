"""Conversion of Python arguments to attribute values: text, sequences, numbers, mappings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from xla_explorer.hlo.attributes import (
    CODECS,
    PaddingDimension,
    SliceDimension,
    Window,
    WindowDimension,
)
from xla_explorer.hlo.builder.axes import AXES, axes_attribute
from xla_explorer.hlo.builder.errors import HloBuilderError
from xla_explorer.hlo.opcodes import OpcodeSpec

# Short names accepted in place of attribute names.
_ALIASES = {
    "dynamic_slice_sizes": ("sizes",),
    "dimensions": ("dimension", "axis", "axes"),
    "iota_dimension": ("dimension",),
    "custom_call_target": ("target",),
    "custom_call_has_side_effect": ("has_side_effect",),
    "source_target_pairs": ("pairs",),
    "slice_sizes": ("sizes",),
}
# Attributes whose text is a quoted string.
_QUOTED = frozenset(
    {"custom_call_target", "infeed_config", "outfeed_config", "async_execution_thread"}
)
ON_EVERY_OPCODE = frozenset(
    {
        "sharding",
        "backend_config",
        "frontend_attributes",
        "statistics",
        "origin",
        "parameter_replication",
    }
)


def _integers(given: Any) -> tuple[int, ...]:
    return (
        (int(given),)
        if isinstance(given, int) or not isinstance(given, Iterable)
        else tuple([int(n) for n in given])
    )


def _rows(row: Callable[..., Any]) -> Callable[[Any], tuple[Any, ...]]:
    return lambda given: tuple([part if isinstance(part, row) else row(*part) for part in given])  # type: ignore[arg-type]


def _window(given: Any) -> Window:
    """Return a window from a mapping of its fields.

    An example is {"size": (2, 2), "stride": 2, "pad": ((0, 1), (0, 1))}. A single number applies to
    every dimension.
    """
    if isinstance(given, Window):
        return given
    if not isinstance(given, Mapping):
        return Window(
            tuple([d if isinstance(d, WindowDimension) else WindowDimension(*d) for d in given])
        )
    unknown = set(given) - {"size", "stride", "pad", "lhs_dilate", "rhs_dilate", "rhs_reversal"}
    if unknown or "size" not in given:
        raise HloBuilderError(
            f"a window needs size= and has no {sorted(unknown)}"
            if unknown
            else "a window needs size=",
            'write window={"size": (3, 3), "stride": (1, 1), "pad": ((1, 1), (1, 1))}',
        )
    sizes = _integers(given["size"])

    def field(name: str, default: int) -> list[int]:
        value = given.get(name, default)
        return [int(value)] * len(sizes) if isinstance(value, int) else [int(n) for n in value]

    pads = given.get("pad", ((0, 0),) * len(sizes))
    strides, base, window, reversal = (
        field("stride", 1),
        field("lhs_dilate", 1),
        field("rhs_dilate", 1),
        field("rhs_reversal", 0),
    )
    return Window(
        tuple(
            [
                WindowDimension(
                    sizes[k],
                    strides[k],
                    pads[k][0],
                    pads[k][1],
                    base[k],
                    window[k],
                    bool(reversal[k]),
                )
                for k in range(len(sizes))
            ]
        )
    )


def _replica_groups(given: Any) -> Any:
    return CODECS["replica_groups"].read(
        "{" + ",".join(["{" + ",".join(map(str, group)) + "}" for group in given]) + "}"
    )


_CONVERT: dict[str, Callable[[Any], Any]] = {
    "padding": _rows(PaddingDimension),
    "slice": _rows(SliceDimension),
    "window": _window,
    "replica_groups": lambda given: given if hasattr(given, "groups") else _replica_groups(given),
    "source_target_pairs": lambda given: tuple([tuple(map(int, pair)) for pair in given]),
    "operand_precision": tuple,
}


def attribute_value(name: str, given: Any) -> Any:
    """Return the value of an attribute from the user's argument; HloBuilderError names the type."""
    codec = CODECS.get(name)
    if isinstance(given, str):
        if name in _QUOTED and not given.startswith('"'):
            given = '"' + given.replace("\\", "\\\\").replace('"', '\\"') + '"'
        if codec is None:
            return given
        try:
            return codec.read(given)
        except ValueError as error:
            raise HloBuilderError(f"attribute {name} {error}") from None
    if name in AXES:
        return axes_attribute(name, given)
    try:
        if name in _CONVERT:
            return _CONVERT[name](given)
        if isinstance(given, Iterable) and not isinstance(given, tuple):
            return tuple(given)
        if (
            codec is not None
            and isinstance(given, int)
            and not isinstance(given, bool)
            and _is_list(codec.summary, codec.default, name)
        ):
            return (given,)
    except (TypeError, ValueError, IndexError) as error:
        raise HloBuilderError(f"attribute {name} cannot be made from {given!r}: {error}") from None
    return given


def _is_list(summary: str, default: Any, name: str) -> bool:
    return isinstance(default, tuple) or name.endswith(("_dims", "_sizes", "_map", "_length"))


def split_arguments(
    spec: OpcodeSpec, given: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split a call's arguments into (attributes by name, called computations by role).

    HloBuilderError for unknown names.
    """
    attributes: dict[str, Any] = {}
    called: dict[str, Any] = {}
    known = {name: name for name in (*spec.attributes, *ON_EVERY_OPCODE)}
    for name in spec.attributes:
        for alias in _ALIASES.get(name, ()):
            known.setdefault(alias, name)
    for name, value in given.items():
        if name in spec.called:
            called[name] = value
        elif name in known:
            attributes[known[name]] = attribute_value(known[name], value)
        else:
            raise HloBuilderError(
                f"{spec.name} has no attribute {name}",
                f"choose from: {', '.join((*spec.attributes, *spec.called)) or 'none'}",
            )
    return attributes, called
