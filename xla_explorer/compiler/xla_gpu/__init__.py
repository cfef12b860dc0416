"""XLA:GPU's emission and fusion of kernels, for replays."""
