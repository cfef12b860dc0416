"""Typed SSA records, their builders, and their text as LLVM IR.

`types.py` and `values.py` say what a value is, `records.py` what a function consists of.
`builder.py` has every operation; it leaves to its two kinds where a record goes:
`structured_builder.py` puts it into the outermost loop that has its operands, once, and
`FunctionWriter` (one folder up) where it is written. `llvm_text.py` prints.
"""
