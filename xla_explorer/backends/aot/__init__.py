"""A module as one object file and a C header, for any CPU of LLVM.

Importing it does not load LLVM.
"""
