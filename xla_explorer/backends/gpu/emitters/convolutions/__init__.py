"""Convolutions as products of gathered matrices: what is multiplied, and where the sums go."""
