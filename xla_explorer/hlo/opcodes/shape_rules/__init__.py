"""Shape inference of each opcode, a module per family."""
