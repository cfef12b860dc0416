"""The vocabulary of tables: each column once, and one row type a noun.

Start reading at `columns.py`.
"""

from xla_explorer.explorer.tables.column import Column
from xla_explorer.explorer.tables.columns import COLUMNS, column
from xla_explorer.explorer.tables.kernel import Kernel
from xla_explorer.explorer.tables.nouns import NOUNS, Noun

__all__ = ["COLUMNS", "NOUNS", "Column", "Kernel", "Noun", "column"]
