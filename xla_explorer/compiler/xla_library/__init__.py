"""What XLA:CPU gives to its library of kernels (YNNPACK): its rules and its order, for replays; no pass of ours."""
