"""What the stance classifier learns beside the pairs people have written.

Written pairs are hard: few say outright that the claim is true or a myth, as most answers of
models do. And they are short. So claims are also put into plain answers, and responses between
sentences that are beside the point. Measured on the claims left out, this takes plain answers from
a macro F1 of 0.5 to 0.9, long responses from 0.42 to 0.51, and costs the written pairs nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_xling.annotators.stance.pair import Pair
from pytest_xling.text.sentences import sentences
from pytest_xling.text.stance import STANCES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_xling.annotators.stance.head.training.pairs import LabelledPair

__all__ = ["Example", "examples"]

_FILE = Path(__file__).with_name("templates.jsonl")
_TEMPLATES = 6
"""So many of a language's templates for a stance are used for a claim."""
_OPPOSITE = "{opposite}"
_PLAIN_SHARE = 0.5
"""All plain answers together weigh this much of all written pairs."""
_LONG_WEIGHT = 0.5
_OTHERS = 3
"""So many responses that are beside the point make one long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A pair to learn from."""

    labelled: LabelledPair
    weight: float
    made: bool
    """By a template or from other pairs; written pairs alone are measured on."""


def examples(pairs: Sequence[LabelledPair], *, seed: int) -> list[Example]:
    """Return *pairs* and what is made of them.

    Args:
        pairs: of the split ``train``.
        seed: of the choice of templates, and of sentences put around responses.
    """
    plain = _plain(pairs, seed=seed)
    share = _PLAIN_SHARE * len(pairs) / max(1, len(plain))
    return [
        *(Example(labelled=pair, weight=1.0, made=False) for pair in pairs),
        *(Example(labelled=pair, weight=share, made=True) for pair in plain),
        *(
            Example(labelled=pair, weight=_LONG_WEIGHT, made=True)
            for pair in _lengthened(pairs, seed=seed)
        ),
    ]


def _plain(pairs: Sequence[LabelledPair], *, seed: int) -> list[LabelledPair]:
    """Return each claim in templates of its language, if there are any.

    Templates that name the opposite are for claims whose negation is a claim, too.
    """
    claims = {(pair.pair.claim, pair.pair.language): pair for pair in pairs}
    opposites = {
        (pair.pair.claim, pair.pair.language): other.pair.claim
        for pair in claims.values()
        for other in claims.values()
        if pair.group == other.group
        and pair.claim_id != other.claim_id
        and pair.pair.language == other.pair.language
    }
    made = []
    for (claim, language), pair in claims.items():
        opposite = opposites.get((claim, language), "")
        for stance in STANCES:
            fit = [
                template
                for template in _templates().get((language, stance), ())
                if opposite or _OPPOSITE not in template
            ]
            # A digest orders them: what a seed gives random numbers may differ between versions.
            drawn = sorted(fit, key=lambda template: _drawn(seed, claim, template))
            for template in drawn[:_TEMPLATES]:
                response = template.replace("{claim}", claim).replace(_OPPOSITE, opposite)
                plain = replace(pair.pair, response=response)
                made.append(replace(pair, pair=plain, label=stance, kind="template"))
    return made


def _lengthened(pairs: Sequence[LabelledPair], *, seed: int) -> list[LabelledPair]:
    """Return *pairs* with the sentences of neutral responses about other claims around them."""
    neutral: dict[str, list[LabelledPair]] = defaultdict(list)
    for pair in pairs:
        if pair.label == "neutral" and pair.kind == "plain":
            neutral[pair.pair.language].append(pair)
    made = []
    for pair in pairs:
        language, response = pair.pair.language, pair.pair.response
        others = [other for other in neutral[language] if other.group != pair.group]
        drawn = sorted(others, key=lambda other: _drawn(seed, response, other.pair.response))
        around = [s for other in drawn[:_OTHERS] for s in sentences(other.pair.response, language)]
        if not around:
            continue
        cut = _drawn(seed, pair.pair.claim, response) % (len(around) + 1)
        whole = " ".join([*around[:cut], *sentences(response, language), *around[cut:]])
        longer = Pair(claim=pair.pair.claim, response=whole, language=language)
        made.append(replace(pair, pair=longer, kind="lengthened"))
    return made


def _drawn(seed: int, *texts: str) -> int:
    drawn = hashlib.sha256("\0".join([str(seed), *texts]).encode()).digest()
    return int.from_bytes(drawn[:8], "big")


@cache
def _templates() -> dict[tuple[str, str], list[str]]:
    rows = map(json.loads, _FILE.read_text(encoding="utf-8").splitlines())
    return {(row["language"], row["stance"]): row["templates"] for row in rows}
