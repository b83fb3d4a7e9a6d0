"""Read pairs of a claim and a response with an NLI model, long responses in part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from pytest_xling.annotators.stance import StanceAnnotator
from pytest_xling.text.sentences import sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_xling.encoders import Encoder
    from pytest_xling.keys import JsonValue
    from pytest_xling.models.nli.checkpoint import Label
    from pytest_xling.models.nli.model import NliModel
    from pytest_xling.text.answer_text import Pair
    from pytest_xling.text.stance import Stance

SENTENCES = 5
"""How many are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The sentences of a response that are most similar to the claim."""

    text: str
    """They, in the order of the response."""
    read: int
    """How many they are."""
    of: int
    """How many the response has."""


def choose(pairs: Sequence[Pair], encoder: Encoder) -> list[Chosen]:
    """Return the sentences most similar to the claim, of each pair.

    Of sentences that are equally similar the earlier go first.
    """
    split = [sentences(pair.response, pair.language) for pair in pairs]
    chosen = [pair for pair, each in zip(pairs, split, strict=True) if len(each) > SENTENCES]
    wanted = dict.fromkeys(pair.about for pair in chosen)
    wanted |= dict.fromkeys(
        sentence for each in split if len(each) > SENTENCES for sentence in each
    )
    texts = list(wanted)
    vectors = dict(zip(texts, encoder.sentence_embeddings(texts), strict=True)) if texts else {}
    chosen_texts = []
    for pair, each in zip(pairs, split, strict=True):
        places = list(range(len(each)))
        if len(each) > SENTENCES:
            similar = np.stack([vectors[sentence] for sentence in each]) @ vectors[pair.about]
            places = sorted(np.argsort(-similar, kind="stable")[:SENTENCES].tolist())
        text = " ".join(each[place] for place in places)
        chosen_texts.append(Chosen(text=text, read=len(places), of=len(each)))
    return chosen_texts


_LEAST_ROOM: Final = 16
"""Tokens a claim must leave to the response, or it would be judged by next to nothing."""
LABELS: Final[Mapping[Stance, Label]] = {
    "neutral": "neutral",
    "agree": "entailment",
    "disagree": "contradiction",
}
"""What each stance is to a model. Where two are equally probable, the first one counts."""


def read(pairs: Sequence[Pair], model: NliModel, encoder: Callable[[], Encoder]) -> list[JsonValue]:
    """Return the annotation of each pair, in order.

    Args:
        pairs: at least one.
        model: takes the response as premise and the claim as hypothesis.
        encoder: opens what finds the sentences to read; called where a response is too long.

    Raises:
        EvaluationError: a model gives NaN or infinity.
    """
    claims = [pair.about for pair in pairs]
    premises = [pair.response for pair in pairs]
    notes = ["" for _ in pairs]
    without = model.lengths(["" for _ in pairs], claims)
    fits = [length + _LEAST_ROOM <= model.limit for length in without]
    lengths = model.lengths(premises, claims)
    long = [place for place, _ in enumerate(pairs) if fits[place] and lengths[place] > model.limit]
    if long:
        chosen = choose([pairs[place] for place in long], encoder())
        left = model.lengths([each.text for each in chosen], [claims[place] for place in long])
        for place, part, length in zip(long, chosen, left, strict=True):
            premises[place] = part.text
            if part.read < part.of:
                notes[place] = f"; read: the {part.read} of {part.of} sentences most like the claim"
            if length > model.limit:
                notes[place] += f"; cut to the {model.limit} tokens the model takes"
    places = [place for place, fit in enumerate(fits) if fit]
    rows = model.probabilities([premises[place] for place in places], [claims[p] for p in places])
    values: dict[int, JsonValue] = {}
    for place, row in zip(places, rows.tolist(), strict=True):
        probable = dict(zip(model.labels, row, strict=True))
        stance = max(LABELS, key=lambda each: probable[LABELS[each]])
        listed = ", ".join(f"{label} {probable[label]:.3f}" for label in LABELS.values())
        values[place] = StanceAnnotator.labelled_value(stance, reasoning=listed + notes[place])
    return [
        values[place]
        if place in values
        else StanceAnnotator.labelled_value(
            None,
            reason=(
                f"no stance: the claim has {without[place]} tokens, and the NLI model takes "
                f"{model.limit} of claim and response together"
            ),
        )
        for place, _ in enumerate(pairs)
    ]
