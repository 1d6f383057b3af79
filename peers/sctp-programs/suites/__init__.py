"""Suites of others, each with what it needs, how it is built, and how its results are read."""
