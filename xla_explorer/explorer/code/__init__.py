"""Emitted code: LLVM IR and its passes, PTX, loop nests, source lines."""
