"""Ray on two cores, started once for the tests of this folder."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from pytest_xling import registry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType

    from pytest_xling.engine.on_ray import Cluster

PROBE = '''
import asyncio
import os
import pathlib
import signal
from dataclasses import dataclass

from pytest_xling.interfaces.annotator import TextAnnotator


@dataclass(frozen=True)
class Probe(TextAnnotator):
    """Says where it runs; some texts break it, or its process."""

    name = "probe"
    version = "1"

    def annotate(self, texts, languages):
        for text in texts:
            order, _, place = text.partition(" ")
            if order == "raise":
                raise ZeroDivisionError(place)
            if order == "die" and (not place or not pathlib.Path(place).exists()):
                if place:
                    pathlib.Path(place).touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return [os.getpid()] * len(texts)


class Waiting:
    """A model that leaves a file when it is asked, and one when its answer is not wanted."""

    name = "waiting"
    style = "chat"
    paid = False

    def __init__(self, spec, **given):
        self.init_arguments = {"spec": spec, "device": "cpu", **given}
        self.max_connections = 1
        self.generate = self._wait
        self.place = pathlib.Path(spec)

    def move(self, ask, *, copies):
        self.generate, self.max_connections = ask, copies

    def check(self): pass

    def identify(self, request): return {}

    async def _wait(self, request):
        (self.place / "asked").touch()
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            (self.place / "cancelled").touch()
            raise

    async def aclose(self): pass
'''
ENTRY_POINTS = """
[pytest_xling.annotators]
probe = xling_probe:Probe
[pytest_xling.providers]
waiting = xling_probe:Waiting
"""


@pytest.fixture(scope="session")
def installed_probe(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A package of another project's that brings an annotator, on the path."""
    site = tmp_path_factory.mktemp("site")
    (site / "xling_probe.py").write_text(PROBE, encoding="utf-8")
    info = site / "xling_probe-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: xling-probe\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(site)
        patch.setenv("PYTHONPATH", str(site), prepend=os.pathsep)  # of the processes Ray starts
        registry._installed.cache_clear()
        yield site
    registry._installed.cache_clear()
    registry.load.cache_clear()


@pytest.fixture(scope="session")
def ray() -> ModuleType:
    """Ray itself, an extra."""
    module: ModuleType = pytest.importorskip(
        "ray", reason="Ray is not installed: pip install 'pytest-xling[ray]'"
    )
    return module


@pytest.fixture(scope="session")
def cluster(installed_probe: Path, ray: ModuleType) -> Iterator[Cluster]:
    """Ray with two actors, each on one core, whose pool is started when first asked for."""
    del installed_probe, ray  # before Ray starts: its processes look where this one does
    from pytest_xling.engine.on_ray import open_cluster  # noqa: PLC0415  imports Ray

    opened = open_cluster(None, actors=2, device="cpu")
    try:
        yield opened
    finally:
        opened.close()
