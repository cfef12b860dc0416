"""In preparation."""
