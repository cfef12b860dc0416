"""Semantics of PTX instructions by family; `kernel_code.py` binds them to operands."""
