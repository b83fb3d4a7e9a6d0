"""The posts of EPITOME's seekers as prompts (Sharma et al., 2020), for consistency of empathy."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pytest_xling.errors import ConfigError, DataError
from pytest_xling.files.epitome import EPITOME_COLUMNS, epitome_files, epitome_rows
from pytest_xling.files.strict_json import plain_name
from pytest_xling.languages import find
from pytest_xling.records import Sample

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_xling.files.epitome import EpitomeRow

_ENGLISH = "en"


class EpitomeReader:
    """Reads the distinct seeker posts of EPITOME's files, whatever was answered to them.

    A post is known by its ``sp_id``. Posts are in English, unless the file has a column
    ``language``, where translations stand below the same ``sp_id``.
    """

    name: ClassVar[str] = "epitome"

    @staticmethod
    def recognises(path: Path) -> bool:
        """Tell whether *path* is such a file, or a folder with one, or its ``dataset`` or ``data``.

        Names have "epitome" or a mechanism in them: ``emotional-reactions-reddit.csv``.
        """
        return bool(epitome_files(path))

    @staticmethod
    def languages(path: Path) -> tuple[str, ...]:
        """Return the codes of the languages the posts are in, sorted.

        Raises:
            DataError: names the file, the line, the column and the fix.
        """
        return tuple(sorted({language for language, _ in _posts(path)}))

    @staticmethod
    def read(path: Path, *, benchmark: str, languages: Sequence[str]) -> list[Sample]:
        """Return the posts in *languages*, language by language, in the files' order.

        A text that stands below several ``sp_id`` is asked once.

        Raises:
            DataError: names the file, the line, the column and the fix.
        """
        posts = _posts(path)
        known = sorted({language for language, _ in posts})
        samples: list[Sample] = []
        for code in dict.fromkeys(find(language).code for language in languages):
            if code not in known:
                msg = (
                    f"{path}: no post is in {code!r}; translate them and add rows with a column "
                    f"'language', or leave {code!r} out. There is data for: {', '.join(known)}"
                )
                raise DataError(msg)
            by_text: dict[str, EpitomeRow] = {}
            for (language, _), row in posts.items():
                if language == code:
                    by_text.setdefault(row.seeker_post, row)
            samples += (
                _sample(row, benchmark=benchmark, language=code) for row in by_text.values()
            )
        return samples

    @staticmethod
    def notices(path: Path, *, languages: Sequence[str]) -> list[str]:
        """Say how many posts are left out since their text is that of another one.

        Raises:
            DataError: names the file, the line, the column and the fix.
        """
        posts = _posts(path)
        lines = []
        for code in dict.fromkeys(find(language).code for language in languages):
            texts = [row.seeker_post for (language, _), row in posts.items() if language == code]
            if repeated := len(texts) - len(set(texts)):
                some = f"{repeated} of {len(texts)} posts in {code!r}"
                lines.append(
                    f"{path.name}: {some} repeat the text of another sp_id and are left out"
                )
        return lines


def _posts(path: Path) -> dict[tuple[str, str], EpitomeRow]:
    """Return by language and ``sp_id`` the first row with that post, of all files."""
    files = epitome_files(path)
    if not files:
        msg = (
            f"{path}: no file of EPITOME here; expected such as emotional-reactions-reddit.csv, "
            f"with the columns {', '.join(EPITOME_COLUMNS)}"
        )
        raise DataError(msg)
    posts: dict[tuple[str, str], EpitomeRow] = {}
    for file in files:
        for row in epitome_rows(file):
            first = posts.setdefault((_language(row), row.sp_id), row)
            if first.seeker_post.split() != row.seeker_post.split():  # blanks do not matter
                msg = (
                    f"{row.place}: key 'seeker_post' of {row.sp_id!r} is not the text it has at "
                    f"{first.place}; correct one, or give each post its own sp_id"
                )
                raise DataError(msg)
    return posts


def _language(row: EpitomeRow) -> str:
    if not row.language:
        return _ENGLISH
    try:
        return find(row.language).code
    except ConfigError as error:
        msg = f"{row.place}: key 'language': {error}"
        raise DataError(msg) from error


def _sample(row: EpitomeRow, *, benchmark: str, language: str) -> Sample:
    name = plain_name(row.sp_id)
    return Sample(
        id=name,
        benchmark=benchmark,
        language=language,
        prompt={"question": row.seeker_post},
        parallel_id=name,
        metadata={"set": "empathy", "source": "EPITOME"},
    )
