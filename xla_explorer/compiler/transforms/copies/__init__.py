"""Copies that the sharing of buffers requires."""
