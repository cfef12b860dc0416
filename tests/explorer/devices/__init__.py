"""Tests of `session.devices`."""
