"""A small clone in the layout of the Language Confusion Benchmark, in our own words."""

from __future__ import annotations

import csv
import io
import zipfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


COLUMNS = ("id", "model", "completion", "task", "source", "language")

TEST_SETS = {
    "monolingual/birds/tr.csv": [
        {"prompt": "Kuşlar neden öter?", "source": "birds", "language": "tr"},
        {"prompt": "Kuşlar nasıl uçar?", "source": "birds", "language": "tr"},
    ],
    "crosslingual/cats/hi.csv": [
        {"prompt": "Reply in Hindi. Why do cats purr?", "source": "cats", "language": "hi"},
    ],
    "crosslingual/cats/tr.csv": [
        {"prompt": "Reply in Turkish. Why do cats purr?", "source": "cats", "language": "tr"},
    ],
}

OUTPUTS = [
    {
        "id": number,
        "model": "model-a",
        "completion": completion,
        "task": task,
        "source": source,
        "language": language,
    }
    for number, completion, task, source, language in (
        ("0", "Kuşlar eş bulmak için öter.\nQ: Neden?\nA: Bilmem.", "monolingual", "birds", "tr"),
        ("1", "", "monolingual", "birds", "tr"),
        ("0", "क्योंकि वे खुश हैं।", "crosslingual", "cats", "hi"),
    )
]


def as_csv(rows: Sequence[dict[str, str]]) -> str:
    """Return *rows* as CSV."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def make_clone(folder: Path, *, packed: bool = True) -> Path:
    """Make a clone with test sets, as a zip or unpacked, and the outputs of one model."""
    (folder / "outputs").mkdir(parents=True)
    (folder / "outputs" / "model-a.csv").write_text(as_csv(OUTPUTS), "utf-8")
    if packed:
        with zipfile.ZipFile(folder / "test_sets.zip", "w") as archive:
            for name, rows in TEST_SETS.items():
                archive.writestr(f"test_sets/{name}", as_csv(rows))
    else:
        for name, rows in TEST_SETS.items():
            file = folder / "test_sets" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(as_csv(rows), "utf-8")
    return folder
