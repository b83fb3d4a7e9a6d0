"""Measure which languages langid and CLD2 recognise, on texts that others wrote.

    python perf/identifiers.py NTREX=ntrex/NTREX-128 UDHR=udhr2 [--write]

Each folder has a file of text for each language, a paragraph or sentence a line, named by its tag
or FLORES code: ``newstest2019-ref.srp-Latn.txt``, ``zho_Hant.txt``. Public ones are NTREX-128
(github.com/MicrosoftTranslator/NTREX) and the Declaration of Human Rights as NLTK has it
(github.com/nltk/nltk_data, udhr2.zip). A language is measured in the first folder that has texts
enough; its texts are lines, joined until they have 100 characters, as short as answers get.

``--write`` puts the figures into pytest_xling/languages/measured.jsonl, of which the package and
docs/languages.md are made.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_xling import languages as package
from pytest_xling.errors import ConfigError
from pytest_xling.languages import find
from pytest_xling.languages._language import FEWEST_TEXTS, Measured
from pytest_xling.text import langid
from pytest_xling.text.cld2 import detect
from pytest_xling.text.sentences import cut

if TYPE_CHECKING:
    from collections.abc import Iterator

WRITTEN = Path(package.__file__).with_name("measured.jsonl")
SHORTEST = 100
LONGEST = 300
"""Longer lines are cut."""
TEXTS = 2000
_PLAIN = re.compile(r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-[A-Z]{2})?")
"""Old spellings and dialects have no row."""
KEPT = 0.01
"""What a smaller share of the texts is taken for is not written down."""


def texts_in(file: Path) -> list[str]:
    """Return the texts of a file, not more than are needed, from all over it."""
    texts, text = [], ""
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        for part in cut(line.strip(), LONGEST):
            text = f"{text} {part}".strip()
            if len(text) >= SHORTEST:
                texts.append(text)
                text = ""
    return texts[:: max(1, len(texts) // TEXTS)][:TEXTS]


def files_in(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the code of each file's language with the file; of several of one the plainest."""
    codes: dict[str, Path] = {}
    for file in sorted(folder.glob("*.txt"), key=lambda file: (len(file.stem), file.stem)):
        name = file.stem.rpartition(".")[2]
        try:
            code = find(name).code
        except ConfigError:
            print(f"left out, no tag: {file.name}")
            continue
        if _PLAIN.fullmatch(code) and codes.setdefault(code, file) is file:
            yield code, file


def by_cld2(text: str) -> str:
    """Return what CLD2 says of a text, as metrics ask it."""
    tries = (detect(text, best_effort=best_effort) for best_effort in (False, True))
    return next((tried.language for tried in tries if tried.reliable), "un")


def measure(code: str, texts: list[str], source: str) -> dict[str, Any]:
    """Return the row of a language."""
    label = find(code).identified_as
    told = {
        "langid": Counter(langid.identify(texts)),
        "cld2": Counter(map(by_cld2, texts)),
    }
    row: dict[str, Any] = {"source": source, "texts": len(texts)}
    row |= {by: counts[label] for by, counts in told.items()}
    better = Measured(**row, taken_for={}).identifier
    row["taken_for"] = {
        other: n
        for other, n in told[better].most_common()
        if other not in {label, "un"} and n >= KEPT * len(texts)
    }
    return {"code": code, **row}


def main() -> None:
    """Measure, print, and write where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="+", metavar="NAME=FOLDER")
    parser.add_argument("--write", action="store_true", help="write measured.jsonl")
    args = parser.parse_args()
    rows: dict[str, dict[str, Any]] = {}
    for source, _, folder in (text.partition("=") for text in args.folders):
        for code, file in files_in(Path(folder)):
            texts = texts_in(file)
            if code not in rows and len(texts) >= FEWEST_TEXTS:
                rows[code] = measure(code, texts, source)
                print(json.dumps(rows[code]))
    known = {code: row for code, row in rows.items() if row["langid"] or row["cld2"]}
    print(f"{len(rows)} languages, {len(known)} of them known to an identifier")
    if args.write:
        lines = (json.dumps(known[code], ensure_ascii=False) + "\n" for code in sorted(known))
        WRITTEN.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
