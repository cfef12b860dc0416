"""Matrix products: tensor cores (wgmma, mma), tiles, thin matrices; what they share of operands, partial sums and stores."""
