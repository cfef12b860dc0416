"""Modules as pictures: what is drawn, what is folded, where it stands; as SVG and DOT."""
