"""Products by groups of small integers, and whether a product is one of tiles, with what follows it in its kernel."""
