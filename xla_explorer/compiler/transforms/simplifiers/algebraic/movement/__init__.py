"""Rules of operations that only move data: slices, concatenates, reshapes, transposes, broadcasts, gathers."""
