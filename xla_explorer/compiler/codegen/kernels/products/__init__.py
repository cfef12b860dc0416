"""Products: integer GEMM, and the plan of register-tiled GEMM with its epilogue."""
