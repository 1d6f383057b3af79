"""Studies, of published measurements or our own: a scenario, a grid of runs, claims, figures, a report."""

__version__ = "0.1.0"
