"""Stack frames of a program end where the program begins: who traced it is no part of it."""

from __future__ import annotations

import pytest

from xla_explorer.hlo.metadata import StackFrameTables

TEXT = """FileNames
1 "notebook.py"
2 "lowering.py"
3 "model.py"

FunctionNames
1 "<module>"
2 "lower"
3 "step"
4 "loss"

FileLocations
1 {file_name_id=1 function_name_id=1 line=5 end_line=5 column=1 end_column=9}
2 {file_name_id=2 function_name_id=2 line=50 end_line=50 column=1 end_column=9}
3 {file_name_id=3 function_name_id=3 line=7 end_line=7 column=1 end_column=9}
4 {file_name_id=3 function_name_id=4 line=3 end_line=4 column=1 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}
3 {file_location_id=3 parent_frame_id=3}
4 {file_location_id=4 parent_frame_id=4}"""


def test_callers_are_left_out() -> None:
    tables, kept = StackFrameTables(TEXT).called_from("lowering.py")
    assert kept == {3: 1, 4: 2}
    assert tables.stack(2) == [("model.py", "loss", 3), ("model.py", "step", 7)]
    assert (
        "notebook.py" not in tables.text
        and "lower" not in tables.text
        and "end_line=4" in tables.text
    )


def test_tables_without_that_file_stay() -> None:
    tables = StackFrameTables(TEXT)
    same, kept = tables.called_from("elsewhere.py")
    assert same is tables and kept == {n: n for n in (1, 2, 3, 4)}


def test_a_module_of_jax_names_no_file_of_ours() -> None:
    pytest.importorskip("jax", reason="needs the extra `jax`")
    import numpy as np

    import xla_explorer as xe

    module = xe.from_jax(lambda x: x * 2 + 1, np.ones(3, np.float32))
    assert module.frames is not None
    assert "lowering.py" not in module.frames.text and __file__ in module.frames.text
    root = module.entry.root.op_metadata
    assert [frame[0] for frame in module.frames.stack(root.stack_frame_id)] == [__file__]
    assert xe.parse_hlo(module.to_text()).to_text() == module.to_text()
