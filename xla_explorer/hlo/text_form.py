"""Text forms of shapes, literals and instructions, bound by `text/forms.py`.

These types are below `text` in the layering, but `str(instruction)` prints, and a literal parses
its text on first use. `text/forms.py` binds these functions when `hlo` is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class TextForm:
    """The functions, each as `text` defines it."""

    read_shape: Callable[[str, int], Any]
    read_array: Callable[[Any, str], Any]
    write_literal: Callable[[Any], str]
    instruction_text: Callable[[Any], str]
    computation_text: Callable[[Any], str]


TEXT = TextForm()
