"""Lowering of a kernel to LLVM IR in named steps, one file a step.

`pipeline.py` has the list. A step is a function of a kernel's body that returns the changed body.
"""
