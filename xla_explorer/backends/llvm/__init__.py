"""What the backends that generate code with LLVM share: targets, the LLVM compiler, object cache, assembly text."""
