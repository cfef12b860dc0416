"""Passes on loops and conditionals."""
