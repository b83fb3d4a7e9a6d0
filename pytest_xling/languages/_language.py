"""What is known of one language."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

Identifier: TypeAlias = Literal["cld2", "langid"]
ResourceLevel: TypeAlias = Literal["high", "mid", "low"]
Direction: TypeAlias = Literal["ltr", "rtl"]

TRUSTED_RECALL: Final = 0.95
"""An identifier is trusted on a language of whose texts it recognises this share."""
FEWEST_TEXTS: Final = 50
"""On fewer texts nothing is measured."""
CONFUSED: Final = 0.02
"""A language that this share of the texts is taken for is close, if it is of the same family:
others are told apart by the words that are there."""

_RIGHT_TO_LEFT: Final = frozenset(
    {
        *("Adlm", "Arab", "Aran", "Armi", "Avst", "Chrs", "Cprt", "Elym", "Gara", "Hatr", "Hebr"),
        *("Hung", "Khar", "Lydi", "Mand", "Mani", "Mend", "Merc", "Mero", "Narb", "Nbat", "Nkoo"),
        *("Orkh", "Ougr", "Palm", "Phli", "Phlp", "Phnx", "Prti", "Rohg", "Samr", "Sarb", "Sogd"),
        *("Sogo", "Syrc", "Thaa", "Yezi"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """How often identifiers recognised a language, by ``perf/identifiers.py``."""

    source: str
    """What the texts are from, none of them written by us."""
    texts: int
    langid: int
    """How many of them langid recognised."""
    cld2: int
    """How many CLD2 did, on its best effort where it is not sure."""
    taken_for: Mapping[str, int] = field(hash=False)
    """What else ``identifier`` took texts for: code to how many."""

    @property
    def identifier(self) -> Identifier:
        """The better one; langid if it can be trusted, for it says by how much a language leads."""
        return "langid" if self.trusts(self.langid) or self.langid >= self.cld2 else "cld2"

    @property
    def right(self) -> int:
        """How many texts that one recognised."""
        return self.langid if self.identifier == "langid" else self.cld2

    def trusts(self, right: int) -> bool:
        """Tell whether one that recognised so many can be trusted."""
        return self.texts >= FEWEST_TEXTS and right >= TRUSTED_RECALL * self.texts

    @property
    def confused(self) -> frozenset[str]:
        """Codes of the languages that many texts are taken for."""
        return frozenset(code for code, n in self.taken_for.items() if n >= CONFUSED * self.texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """One language; the docstrings of the modules beside this one say where each value is from."""

    code: str
    """BCP 47, the shortest form: ``he``, never ``iw``; ``zh-TW``, never ``zh-Hant-TW``."""
    aliases: tuple[str, ...] = ()
    """Lower case: the English name, other codes (``iw``, ``heb``, ``zh-cn``), other names."""
    english_name: str
    native_name: str
    script: str
    """ISO 15924, of the script our papers' data is written in, or else most texts are."""
    script_group: str = ""
    """``Latin``, ``Indic``, ``PArb``, ``Oth1`` or empty: of a paper, for its tables."""
    family_group: str = ""
    """``Rom``, ``Slav``, ``IA``, ``Drav``, ``Oth2`` or empty: likewise."""
    family: str = ""
    """In plain words: ``Germanic``, ``Bantu``; empty where we have none."""
    in_training_data: Mapping[str, bool | None] = field(hash=False)
    """Model family to whether its documentation names this language; None where it is unclear."""
    resource_level: ResourceLevel | None = None
    """None where we have not looked it up."""
    calmqa: bool = False
    found_in_translation: bool = False
    direction: Direction
    identifier: Identifier
    """Which identifier decides first whether a text is in this language."""
    identifiable: bool
    """Whether that identifier can be trusted on this language at all."""
    unidentified: str = ""
    """Why it cannot, in words; empty where it can."""
    langid_misreads: str = ""
    """Why langid is not to be asked, in words; empty where it is, or does not know it at all."""
    identified_as: str
    """The code identifiers have for it: ``zh`` for ``zh-TW``."""
    base: str
    """The code of the language whose words, rules and prompts serve where it has none of its own:
    ``es`` for ``es-AR``. It is written in the same script; else a language is its own base."""
    close: tuple[str, ...] = ()
    """Codes of languages that no identifier tells from this one by a line of text."""
    measured: Measured | None = None
    """How well identifiers know it, where that is measured."""


def direction_of(script: str) -> Direction:
    """Return which way a script, by its ISO 15924 code, is written."""
    return "rtl" if script in _RIGHT_TO_LEFT else "ltr"
