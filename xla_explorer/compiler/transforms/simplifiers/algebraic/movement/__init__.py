"""Rules of operations that only move data: slices, reshapes, broadcasts, gathers and others."""
