"""Typed SSA records, their builders, and their text as LLVM IR.

`types.py` and `values.py` define values, `records.py` the contents of a function. `builder.py` has
every operation; its two subclasses place the records. `structured_builder.py` emits a record once,
in the outermost loop that has its operands; `FunctionWriter` (one folder up) emits in program
order. `llvm_text.py` prints.
"""
