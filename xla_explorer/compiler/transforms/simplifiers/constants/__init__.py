"""Copies, merges and names of constants."""
