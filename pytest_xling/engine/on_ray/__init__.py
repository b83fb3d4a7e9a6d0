"""Metrics, annotators and models on Ray: on the cores of this machine, or on a cluster.

What runs there is the same function that runs on the local thread, on batches cut in the same way;
so are its numbers. Whatever goes wrong with a batch comes back as a value: Ray itself meets only
the death of processes, which it makes up for by starting them anew.
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
