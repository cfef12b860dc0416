"""Modules as neutral pictures, drawn as SVG and DOT."""
