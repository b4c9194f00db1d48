"""Side-by-side measurements: what the project promises in figures, beside the limits it promised.

Every figure is a count, a size, or a ratio of two things measured in the same run, so that it means the same on any
machine; none is a timed test. `make bench` runs them all; ``python -m benchmarks --only NAME`` runs some.
"""
