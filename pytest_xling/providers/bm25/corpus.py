"""The articles that are searched: found, known by their bytes, and read strictly."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_xling.errors import ConfigError, DataError, did_you_mean
from pytest_xling.files.digest import files_sha256
from pytest_xling.files.strict_json import require_text
from pytest_xling.files.tables import table_rows
from pytest_xling.files.whole import display_path, file_errors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_xling.files.tables import Place
    from pytest_xling.keys import JsonValue

SHIPPED: Final = Path(__file__).with_name("articles")
"""The articles that come with the package."""

_REQUIRED: Final = ("id", "title", "text")


@dataclass(frozen=True, slots=True, kw_only=True)
class Article:
    """One row of a corpus; keys it has besides are left alone."""

    title: str
    text: str
    url: str = ""
    language: str = ""
    """A code; whose rules end sentences. Without one it is English's, which know the full stops
    of other scripts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """Files of articles."""

    files: tuple[Path, ...]
    size: int
    """Bytes."""
    sha256: str

    @classmethod
    def find(cls, spec: str) -> Corpus:
        """Return the corpus *spec* names; its articles are not read yet.

        Args:
            spec: a file; a directory, for its ``*.jsonl`` by name; empty for :data:`SHIPPED`.

        Raises:
            ConfigError: there is no such file or directory, it cannot be read, or none is in it.
        """
        with file_errors():
            files = _files(Path(spec).expanduser() if spec else SHIPPED)
            size = sum(file.stat().st_size for file in files)
            return cls(files=files, size=size, sha256=files_sha256(files))

    def articles(self) -> Iterator[Article]:
        """Yield the articles, in the order of the files and their lines.

        Raises:
            DataError: names the file, the line and the fix; or a file was changed since it was
                found, so that what was read is not what :attr:`sha256` stands for.
        """
        places: dict[str, Place] = {}
        for file in self.files:
            for place, row in table_rows(file, required=_REQUIRED):
                identity = require_text(row["id"], where=str(place), key="id")
                if identity in places:
                    msg = (
                        f"{place}: id {identity!r} is already at {places[identity]}; give each "
                        "article its own"
                    )
                    raise DataError(msg)
                places[identity] = place
                yield _article(place, row)
        with file_errors():
            unchanged = files_sha256(self.files) == self.sha256
        if not unchanged:
            msg = f"{display_path(self.files[0])}: the corpus was changed meanwhile; run it again"
            raise DataError(msg)


def _files(place: Path) -> tuple[Path, ...]:
    if place.is_dir():
        files = sorted(f for f in place.glob("*.jsonl") if not f.name.startswith("."))
        if not files:
            msg = (
                f"{display_path(place)}: no *.jsonl in this directory; put files with an article "
                'a line there, such as {"id": …, "title": …, "text": …}'
            )
            raise ConfigError(msg)
        return tuple(files)
    if not place.exists():
        beside: list[str] = []
        with suppress(OSError):
            beside = [other.name for other in place.parent.iterdir()]
        msg = (
            f"{display_path(place)}: no such file or directory of articles."
            f"{did_you_mean(place.name, beside)} Write bm25:FILE.jsonl, bm25:DIR, or bm25 for the "
            "articles that come with the package"
        )
        raise ConfigError(msg)
    return (place,)


def _article(place: Place, row: Mapping[str, JsonValue]) -> Article:
    texts = {key: row[key] for key in ("title", "text")}
    texts |= {key: row[key] for key in ("url", "language") if row.get(key) not in (None, "")}
    return Article(
        **{key: require_text(text, where=str(place), key=key) for key, text in texts.items()}
    )
