"""Who runs an instruction: rows of opcodes, and the ways that are asked in turn."""

from __future__ import annotations

import pytest

from xla_explorer.compiler.codegen.placement.kernel_rows import KERNEL_ROWS, KernelRow, has_own_writer, kernel_row, table


def test_two_rows_for_an_opcode_are_an_error() -> None:
    with pytest.raises(ValueError, match="add has two rows"):
        table([KernelRow("add"), KernelRow("add", is_complex=True)])


def test_what_stands_alone_or_runs_in_sequence_has_a_writer() -> None:
    assert all(row.write is not None for row in KERNEL_ROWS.values() if row.standalone or row.sequential)
    assert kernel_row("sort").sequential and has_own_writer("sort") and not has_own_writer("add") and kernel_row("add").is_complex
    assert kernel_row("atan2") == KernelRow("atan2")
