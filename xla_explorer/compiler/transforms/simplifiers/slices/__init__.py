"""Slices and updates of slices."""
