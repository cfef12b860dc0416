"""From an optimised module to LLVM IR, shared by `cpu`, `aot` and `cross`."""
