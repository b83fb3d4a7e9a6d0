"""Metrics: each is one class, named in :mod:`pytest_xling.registry`."""
