"""Convolutions by tiles of registers, products by groups, and what follows a product in its kernel."""
