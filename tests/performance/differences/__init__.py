"""Thirty programs with two values each, and how many of their causes are named."""
