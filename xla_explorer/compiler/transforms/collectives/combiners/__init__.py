"""The passes that combine collectives, one for each opcode and for GPUs."""
