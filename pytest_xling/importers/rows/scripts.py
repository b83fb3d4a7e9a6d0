"""Questions that are in another script than their language is written in."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_xling.errors import DataError
from pytest_xling.languages import find
from pytest_xling.text.scripts import SCRIPTS, in_scripts, letters

if TYPE_CHECKING:
    from pytest_xling.files.tables import Place
    from pytest_xling.importers.rows.columns import Row

_LETTERS = 500
"""Characters of a question that are looked at."""
_OWN = 0.05
"""Of a question about a foreign text, some more of the letters are its language's."""
_ENOUGH = 1000
"""Questions of a language that are looked at."""
_LEAST = 10
"""Of fewer questions, or letters of a question, nothing is concluded."""
_SEVERAL = {"az", "bs", "ha", "kk", "ks", "ku", "ky", "mn", "ms", "pa", "sd", "sr", "tg", "uz"}
"""Languages that are written in several scripts."""


@dataclass(slots=True, kw_only=True)
class Scripts:
    """The questions of one language that are in other scripts."""

    language: str
    place: Place | None = None
    """Of the first question in another script."""
    questions: int = 0
    others: Counter[str] = field(default_factory=Counter)

    @property
    def enough(self) -> bool:
        """Whether no more questions are looked at."""
        return self.questions >= _ENOUGH

    def add(self, row: Row) -> None:
        """Look at the question in *row*, unless it says that it is asked in another language."""
        question, script = row.fields.get("question"), find(self.language).script
        if row.fields.get("asked_in", self.language) != self.language:
            return
        if self.enough or script not in SCRIPTS or not isinstance(question, str):
            return
        self.questions += 1
        own, scripts = in_scripts(letters(question[:_LETTERS]), script)
        if own < _OWN * scripts.total() and scripts.total() >= _LEAST:
            if not self.others:
                self.place = row.place
            self.others[scripts.most_common(1)[0][0]] += 1

    def check(self) -> None:
        """Refuse a language most of whose questions are in a script that is not its own.

        Raises:
            DataError: names the file, the scripts and the fix.
        """
        most = 2 * self.others.total() > self.questions >= _LEAST
        if most and self.language not in _SEVERAL:
            msg = f"{self.notice()}; rename the file, or correct the column of languages"
            raise DataError(msg)

    def notice(self) -> str:
        """Say how many questions are in another script; "" where none is."""
        if not self.others:
            return ""
        (script, _), *_ = self.others.most_common()
        language = find(self.language)
        return (
            f"{self.place}: {self.others.total()} of {self.questions} questions in "
            f"{self.language!r} are in {script} script, such as this one; "
            f"{language.english_name} is written in {' and '.join(SCRIPTS[language.script])}"
        )
