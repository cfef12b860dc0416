"""What values and the graph show as text, and are read from.

Shapes, literals and instructions stand below the room `text`, whose printer and parser know them; yet `str(instruction)` gives text and a
literal reads its own when it is first asked. `text/forms.py` binds these functions when `hlo` is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class TextForm:
    """The functions, each as the room `text` defines it."""

    read_shape: Callable[[str, int], Any]
    read_array: Callable[[Any, str], Any]
    write_literal: Callable[[Any], str]
    instruction_text: Callable[[Any], str]
    computation_text: Callable[[Any], str]


TEXT = TextForm()
