"""Sorts and top-k as other operations."""
