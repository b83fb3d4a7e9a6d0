"""Record the golden store, or compare with it what the code makes of it now.

python -m tests.golden record   with the code whose numbers are right, after a change that is meant
python -m tests.golden check    a warm run of everything: nothing is asked or scored anew
python -m tests.golden cold     everything anew: the same keys, signatures, values and verdicts
"""

from __future__ import annotations

import json
import lzma
import shutil
import sys
import tempfile
from math import isclose
from pathlib import Path
from typing import Any

from tests.golden.runs import HERE, RUNS, Place
from tests.servers.openai_server import spawned

STORE = HERE / "store.sqlite.xz"
EXPECTED = HERE / "expected.json.xz"
AGAIN = "-again"
ROUNDED = 1e-12
"""Numpy adds by the widest instructions there are, so that sums are rounded otherwise elsewhere."""
PORT = 36473
"""Where the judge stood, which is part of its answers' keys. Nobody answers there in a warm run:
who asks anew does not come to an end."""
URL = f"http://127.0.0.1:{PORT}/v1"


def record(place: Place) -> None:
    """Make the runs and label the worse one."""
    place.write_scripts()
    with spawned(port=PORT, claims=True, verdicts=True):
        for name in RUNS:
            place.pytest(name, url=URL)
    place.label()


def made_again(place: Place) -> dict[str, Any]:
    """Return what the store says once its runs have been made again, warm.

    Raises:
        RuntimeError: something was asked, or could not be read.
    """
    place.write_scripts()
    for name in RUNS:
        place.pytest(name, url=URL, after=AGAIN)
    return {
        "outputs": place.contents(),
        "scored": {name: place.scored(f"{name}{AGAIN}") for name in RUNS},
        "verdicts": {name: place.verdicts(f"{name}{AGAIN}") for name in RUNS},
        "xling": place.answers(),
    }


def unpacked(place: Place) -> None:
    """Put the golden store where *place* is."""
    place.store.write_bytes(lzma.decompress(STORE.read_bytes()))


def expected() -> dict[str, Any]:
    """Return what was recorded."""
    loaded: dict[str, Any] = json.loads(lzma.decompress(EXPECTED.read_bytes()))
    return loaded


def differences(then: Any, now: Any, at: str = "") -> list[str]:  # noqa: ANN401  any JSON
    """Say where two JSON values differ; of numbers the last digits are the processor's."""
    if isinstance(then, dict) and isinstance(now, dict):
        return [
            line
            for key in sorted(then.keys() | now.keys())
            for line in differences(then.get(key), now.get(key), f"{at}/{key}")
        ]
    if isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        pairs = enumerate(zip(then, now, strict=True))
        return [line for i, (a, b) in pairs for line in differences(a, b, f"{at}/{i}")]
    if isinstance(then, float) and isinstance(now, float) and isclose(then, now, rel_tol=ROUNDED):
        return []
    return [] if then == now else [f"{at}: {str(then)[:300]} -> {str(now)[:300]}"]


def main(command: str) -> int:
    """Do as told; print what differs."""
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder))
        if command == "check":
            unpacked(place)
        else:
            record(place)
        if command == "record":
            kept = Path(folder) / "kept.sqlite"
            shutil.copy(place.store, kept)
            STORE.write_bytes(lzma.compress(kept.read_bytes(), preset=9))
            text = json.dumps(made_again(place), ensure_ascii=False, sort_keys=True)
            EXPECTED.write_bytes(lzma.compress(text.encode(), preset=9))
            return 0
        different = differences(expected(), json.loads(json.dumps(made_again(place))))
    sys.stdout.write("\n".join(different[:200] or ["equal"]) + "\n")
    return int(bool(different))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
