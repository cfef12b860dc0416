"""Import of the text forms that `text_form.py` names."""

from __future__ import annotations

from xla_explorer.hlo.text.literal_text import read_array, write_literal
from xla_explorer.hlo.text.printer import computation_text, instruction_text
from xla_explorer.hlo.text.shape_text import read_shape
from xla_explorer.hlo.text_form import TEXT

TEXT.read_shape, TEXT.read_array, TEXT.write_literal = read_shape, read_array, write_literal
TEXT.instruction_text, TEXT.computation_text = instruction_text, computation_text
