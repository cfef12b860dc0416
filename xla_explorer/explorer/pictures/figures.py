"""Pictures for a paper: SVG as PDF or PNG, by the package that draws the charts."""

from __future__ import annotations

from importlib.util import find_spec

from xla_explorer.explorer.pictures.picture import PictureFormatError
from xla_explorer.foundation.optional import import_optional

_PAPER = '<rect x="-9999" y="-9999" width="99999" height="99999" fill="#fff"/>'
"""White below a picture whose boxes are partly transparent: other programs show black there."""


def converted(svg: str, suffix: str, scale: float) -> bytes:
    """An SVG as `.pdf` or `.png`. scale: of a .png, pixels for each pixel of the picture. PictureFormatError without vl-convert-python."""
    if find_spec("vl_convert") is None:
        hint = 'pip install "xla-explorer[charts]", or save .svg'
        raise PictureFormatError(f"{suffix} needs the package vl-convert-python, which is not installed", hint)
    package = import_optional("vl_convert", "charts")
    head, tag, rest = svg.partition("</title>")
    svg = head + tag + _PAPER + rest
    made: bytes = package.svg_to_pdf(svg) if suffix == ".pdf" else package.svg_to_png(svg, scale=scale)
    return made
