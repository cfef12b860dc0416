"""Attribute values, each with its text codec."""

from xla_explorer.hlo.attributes.codecs import CODECS, TRAILING, AttributeCodec
from xla_explorer.hlo.attributes.interning import NO_ATTRIBUTES, Attributes, attributes_of
from xla_explorer.hlo.attributes.values import (
    ConvolutionDimensionNumbers,
    PaddingDimension,
    ReplicaGroups,
    SliceDimension,
    Window,
    WindowDimension,
)

__all__ = [
    "CODECS",
    "NO_ATTRIBUTES",
    "TRAILING",
    "AttributeCodec",
    "Attributes",
    "ConvolutionDimensionNumbers",
    "PaddingDimension",
    "ReplicaGroups",
    "SliceDimension",
    "Window",
    "WindowDimension",
    "attributes_of",
]
