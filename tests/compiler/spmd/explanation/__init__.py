"""Tests of the explanations of partitioned programs."""
