"""HLO -> optimised HLO -> buffers -> LLVM IR. Knows no device; a backend reads this package, never the reverse."""
