"""Reproductions of published measurements: each a scenario, a grid of runs, claims, figures and a report."""
