"""Measure how `wrong_line` reads lines of one to four words, on lines that others wrote.

    python -m perf.short_lines /tmp/lines/server/data

The folder has one for each language, named by its tag, with sentences in ``*.txt``, one a line:
as Common Voice had them (github.com/mozilla/voice-web, CC0), in 78 languages that identifiers can
tell. Of each language the first 360 sentences of a seeded shuffle are read, with that language
expected; and as many lines of other languages as there are, with a language expected that they are
not in, nor in one that is close to it.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_xling.annotators.line_languages import LineLanguages
from pytest_xling.errors import ConfigError
from pytest_xling.languages import find
from pytest_xling.text.words import words
from tests.text.labelled_lines import each_line, short_lines_too

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_xling.languages import Language

    Rule = Callable[[Sequence[str], Sequence[str]], Sequence[float | None]]

LINES = 360
MOST = 20_000
"""So many lines of a file are looked through."""
LONGEST = 60
SHORT = range(1, LineLanguages().words)
_NOT_SENTENCES = ("cit", "topon", "wikidata", "name", "word", "teitlau", "xitxat")


def short_lines(folder: Path, language: Language, rng: random.Random) -> list[str]:
    """Return short lines of a folder's files, none twice, in random order."""
    files = [
        file
        for file in sorted(folder.glob("*.txt"))
        if not any(part in file.name.lower() for part in _NOT_SENTENCES)
    ]
    found: set[str] = set()
    for file in files:
        lines = [line.strip() for line in file.read_text("utf-8", "replace").splitlines()]
        rng.shuffle(lines)
        found.update(
            line
            for line in lines[:MOST]
            if len(line) <= LONGEST and len(words(line, language.code)) in SHORT
        )
    shuffled = sorted(found)
    rng.shuffle(shuffled)
    return shuffled[:LINES]


def read(rule: Rule, lines: Sequence[tuple[str, Language]]) -> Sequence[float | None]:
    """Return what a rule reads of each line, with the language that is expected."""
    return rule([text for text, _ in lines], [expected.code for _, expected in lines])


def main() -> None:
    """Read, and print what came out, by language and in all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    rng = random.Random(args.seed)  # noqa: S311  a sample
    own: list[tuple[str, Language]] = []
    for folder in sorted(path for path in args.folder.iterdir() if path.is_dir()):
        try:
            language = find(folder.name)
        except ConfigError:
            continue
        if language.identifiable:
            own += [(line, language) for line in short_lines(folder, language, rng)]
    readings = read(short_lines_too, own)
    by_language: dict[str, Counter[float | None]] = defaultdict(Counter)
    for (line, language), reading in zip(own, readings, strict=True):
        by_language[language.code][reading] += 1
        if reading == 1:
            print(f"mistaken: {line} ({language.code})")
    for code, counts in sorted(
        by_language.items(), key=lambda item: item[1][0.0] / item[1].total()
    ):
        print(f"{code}: {counts[0.0]} of {counts.total()} right, {counts[1.0]} mistaken")
    languages = [find(code) for code in by_language]
    cross = []
    for line, language in own:
        other = rng.choice(languages)
        apart = {other.identified_as, *other.close, *find(other.base).close}
        if not apart & {language.identified_as, language.code, language.base}:
            cross.append((line, other))
    english = [line for line, language in own if language.code == "en"]
    opening = [(rng.choice(english), each) for each in languages * 40 if each.code != "en"]
    for name, lines in (("its own", own), ("another", cross), ("English in another", opening)):
        counts, before = (Counter(read(rule, lines)) for rule in (short_lines_too, each_line))
        print(
            f"expected {name}: {len(lines)} lines, right {counts[0.0]}, wrong {counts[1.0]}, "
            f"None {counts[None]}; without short_lines None {before[None]}"
        )
    print(f"{len(languages)} languages")


if __name__ == "__main__":
    main()
