"""What was emitted: stages, LLVM and its passes, PTX, beside the lines that they came from."""
