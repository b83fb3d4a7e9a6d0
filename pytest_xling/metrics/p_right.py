"""How probable it is to a model that the answer it is shown is right."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pytest_xling.interfaces.metric import Number
from pytest_xling.languages import find
from pytest_xling.records import Answer, Reading
from pytest_xling.text.verdict import unknown_words
from pytest_xling.text.yes_no import begins

__all__ = ["PRight"]

_MISSING = Reading(value=None, reason="no log-probabilities of the first token")
_NEITHER = Reading(value=None, reason="no likely first token begins a yes or a no")


@dataclass(frozen=True, slots=True, kw_only=True)
class PRight(Number[Answer]):
    """P(yes) / (P(yes) + P(no)) over the likeliest first tokens of a reply.

    Each of those tokens that begins a yes or a no, in the reply's language or in English, adds its
    probability to that side; what is less likely than the tokens listed counts as nothing. The
    reply itself is not read, so there is a value even where it says neither. In a language without
    words for yes and no the value is None: English tokens alone would be no share of it. Needs
    ``top_logprobs`` in prompts.yaml and a provider that gives log-probabilities.
    """

    name = "p_right"
    version = "2"
    bounds = (0.0, 1.0)
    scores_missing = True

    def read(self, answer: Answer, /) -> Reading:
        """Return the reading of one answer."""
        return _read(answer)


def _read(answer: Answer) -> Reading:
    language = find(answer.language).code
    first = [(token, p) for token, p in answer.response.first_token if math.isfinite(p)]
    if not first:
        return _MISSING
    if reason := unknown_words(language):
        return Reading(value=None, reason=reason)
    sides: dict[bool, list[float]] = {True: [], False: []}
    for token, logprob in first:
        side = begins(token, language)
        if side is not None:
            sides[side].append(logprob)
    both = sides[True] + sides[False]
    if not both:
        return _NEITHER
    # Relative to the likeliest, so that two tiny probabilities are not both 0.
    likeliest = max(both)
    yes, no = (math.fsum(math.exp(p - likeliest) for p in sides[side]) for side in (True, False))
    return Reading(value=yes / (yes + no))
