"""Operations written as a whole, often as several kernels; `registry.py` is the table by opcode."""
