"""Passes on dots and convolutions."""
