"""Ahead of time: a module as one object file and a C header, for any CPU that LLVM knows. Importing it does not load LLVM."""
