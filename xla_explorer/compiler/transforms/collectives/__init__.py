"""Passes on operations between devices."""
