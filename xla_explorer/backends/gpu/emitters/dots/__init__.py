"""Matrix products by wgmma, mma, SIMT tiles and GEMV kernels; shared operands, split-K, stores."""
