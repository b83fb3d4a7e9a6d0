"""Metrics, annotators and models on Ray: on the cores of this machine, or on a cluster.

It is the function of the local thread that runs there, on the same batches, with the same numbers.
The errors of a batch come back as values: the only failures that Ray itself sees are deaths of
processes, which it restarts.
"""

from __future__ import annotations

from pytest_xling.engine.on_ray.cluster import (
    Cluster,
    abandon,
    chosen_cluster,
    join_cluster,
    open_cluster,
)
from pytest_xling.engine.on_ray.executor import RayExecutor

__all__ = [
    "Cluster",
    "RayExecutor",
    "abandon",
    "chosen_cluster",
    "join_cluster",
    "open_cluster",
]
