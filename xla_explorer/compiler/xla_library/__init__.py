"""What XLA:CPU gives to YNNPACK, for replays."""
