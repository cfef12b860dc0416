"""Tests of programs of several devices."""
