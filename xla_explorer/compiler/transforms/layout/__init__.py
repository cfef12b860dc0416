"""Layouts: row-major inside, the caller's at the border."""
