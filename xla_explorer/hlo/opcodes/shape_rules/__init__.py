"""Shape rules: how each opcode infers its result shape, one module a family."""
