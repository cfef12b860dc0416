"""The lowering steps that change a loop nest, one file each."""
