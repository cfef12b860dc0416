"""Passes that make programs smaller or cheaper on any machine."""
