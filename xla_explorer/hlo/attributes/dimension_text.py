"""Text of attributes with one part per dimension: slices, padding, windows, convolutions."""

from __future__ import annotations

import re

from xla_explorer.hlo.attributes.values import (
    ConvolutionDimensionNumbers,
    PaddingDimension,
    SliceDimension,
    Window,
    WindowDimension,
)

_SLICES = re.compile(r"\s*\{\s*(?:\[[^\[\]]*\]\s*(?:,\s*\[[^\[\]]*\]\s*)*)?\}\s*")


def read_slice(text: str) -> tuple[SliceDimension, ...]:
    """Read `{[0:2], [1:9:3]}`. ValueError names the expected form."""
    if _SLICES.fullmatch(text) is None:
        raise ValueError(f"expects a list such as {{[0:2], [1:9:3]}} but sees {text}")
    found = []
    for part in re.findall(r"\[([^\]]*)\]", text):
        numbers = [int(n) for n in part.split(":")]
        if len(numbers) not in (2, 3):
            raise ValueError(f"expects [start:limit] or [start:limit:stride] but sees [{part}]")
        found.append(SliceDimension(*numbers))
    return tuple(found)


def write_slice(value: tuple[SliceDimension, ...]) -> str:
    """Write `{[0:2], [1:9]}`, with strides if one is not 1."""
    strided = any(d.stride != 1 for d in value)
    return (
        "{"
        + ", ".join(
            [
                f"[{d.start}:{d.limit}:{d.stride}]" if strided else f"[{d.start}:{d.limit}]"
                for d in value
            ]
        )
        + "}"
    )


def read_padding(text: str) -> tuple[PaddingDimension, ...]:
    """Read `0_1x2_3_1`: low, high and interior padding. ValueError names the expected form."""
    if not text:
        return ()
    found = []
    for part in text.split("x"):
        if re.fullmatch(r"-?\d+_-?\d+(_-?\d+)?", part) is None:
            raise ValueError(f"expects low_high or low_high_interior but sees {part!r}")
        found.append(PaddingDimension(*map(int, part.split("_"))))
    return tuple(found)


def write_padding(value: tuple[PaddingDimension, ...]) -> str:
    """Write `0_1x2_3`, with interior padding if there is any."""
    interior = any(d.interior for d in value)
    return "x".join(
        [f"{d.low}_{d.high}_{d.interior}" if interior else f"{d.low}_{d.high}" for d in value]
    )


_WINDOW = re.compile(r"\s*\{(?:[\s,]*[a-z_]+\s*=\s*[0-9x_\-]+(?=[\s,}]))*+[\s,]*\}\s*")
_WINDOW_FIELD = re.compile(r"([a-z_]+)=([0-9x_\-]+)")


def read_window(text: str) -> Window:
    """Read `{size=3x3 stride=2x2 pad=0_1x0_1}`. ValueError names the expected form."""
    if _WINDOW.fullmatch(text) is None:
        raise ValueError(
            f"expects a window such as {{size=3x3 stride=2x2 pad=0_1x0_1}} but sees {text}"
        )
    fields = dict(_WINDOW_FIELD.findall(text))
    unknown = set(fields) - {"size", "stride", "pad", "lhs_dilate", "rhs_dilate", "rhs_reversal"}
    if unknown:
        raise ValueError(f"unknown window field {sorted(unknown)[0]}")
    if "size" not in fields:
        if fields or text.strip("{} \n\t"):
            raise ValueError("a window needs size=")
        return Window(())
    sizes = [int(n) for n in fields["size"].split("x")]
    count = len(sizes)

    def numbers(name: str, default: int) -> list[int]:
        return [int(n) for n in fields[name].split("x")] if name in fields else [default] * count

    strides, base, window, reversal = (
        numbers("stride", 1),
        numbers("lhs_dilate", 1),
        numbers("rhs_dilate", 1),
        numbers("rhs_reversal", 0),
    )
    pads = (
        [tuple(map(int, p.split("_"))) for p in fields["pad"].split("x")]
        if "pad" in fields
        else [(0, 0)] * count
    )
    if not all(len(pad) == 2 for pad in pads):
        raise ValueError("expects padding_low and padding_high separated by '_'")
    if not all(len(part) == count for part in (strides, base, window, reversal, pads)):
        raise ValueError("the fields of a window differ in their number of dimensions")
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
                for k in range(count)
            ]
        )
    )


def write_window(value: Window) -> str:
    """Write a window without the fields whose values are the defaults."""
    rows = value.dimensions
    if not rows:
        return "{}"
    parts = ["size=" + "x".join([str(d.size) for d in rows])]
    if any(d.stride != 1 for d in rows):
        parts.append("stride=" + "x".join([str(d.stride) for d in rows]))
    if any(d.padding_low or d.padding_high for d in rows):
        parts.append("pad=" + "x".join([f"{d.padding_low}_{d.padding_high}" for d in rows]))
    if any(d.base_dilation != 1 for d in rows):
        parts.append("lhs_dilate=" + "x".join([str(d.base_dilation) for d in rows]))
    if any(d.window_dilation != 1 for d in rows):
        parts.append("rhs_dilate=" + "x".join([str(d.window_dilation) for d in rows]))
    if any(d.window_reversal for d in rows):
        parts.append("rhs_reversal=" + "x".join([str(int(d.window_reversal)) for d in rows]))
    return "{" + " ".join(parts) + "}"


def read_dim_labels(text: str) -> ConvolutionDimensionNumbers:
    """Read `b01f_01io->b01f`. ValueError names the expected form."""
    found = re.fullmatch(r"([b0-9f?]+)_([0-9io?]+)->([b0-9f?]+)", text.strip())
    if found is None:
        raise ValueError(f"expects dimension labels such as b01f_01io->b01f but sees {text}")
    sides = found.groups()

    def place(side: str, label: str) -> int:
        if side.count(label) != 1:
            raise ValueError(f"expects exactly one '{label}' in {side}")
        return side.index(label)

    def spatial(side: str) -> tuple[int, ...]:
        digits = [c for c in side if c.isdigit()]
        return tuple([place(side, str(number)) for number in range(len(digits))])

    lhs, rhs, out = sides
    numbers = ConvolutionDimensionNumbers(
        place(lhs, "b"),
        place(lhs, "f"),
        spatial(lhs),
        place(rhs, "i"),
        place(rhs, "o"),
        spatial(rhs),
        place(out, "b"),
        place(out, "f"),
        spatial(out),
        text.strip(),
    )
    if not len(numbers.input_spatial) == len(numbers.kernel_spatial) == len(numbers.output_spatial):
        raise ValueError(f"the sides of {text} differ in their number of spatial dimensions")
    return numbers


def write_dim_labels(value: ConvolutionDimensionNumbers) -> str:
    """Write the labels as they were given."""
    return value.text
