"""Dots and convolutions: tiles of registers, products by groups, plain loops, and what follows a product in its kernel."""
