"""How each opcode infers its result shape, a module per family."""
