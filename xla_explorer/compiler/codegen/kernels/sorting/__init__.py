"""Sorting and top-k: records of a row by radix and by merging."""
