"""What the stance reader learns from: labelled pairs, and answers composed of labelled sentences.

Models answer at length: they echo the question, grant something, refute it half-way, list points
and end in a disclaimer. Such answers are composed here of sentences whose part in an answer is
known, so that there are as many as training has time for. ``frames.jsonl`` has sentences about any
claim, ``evidence.jsonl`` sentences for and against claims, and the opposite of each claim: the same
answer beside the opposite claim takes the opposite stance, so that words alone decide nothing.
Beside its own claim no answer is off topic, so a part of the labelled ones stands beside others.
"""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_xling.annotators.stance.windows import is_read_whole
from pytest_xling.text.answer_text import Pair
from pytest_xling.text.sentences import sentences
from pytest_xling.text.stance import STANCES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.text.stance import Stance
    from pytest_xling.training.stance.pairs import LabelledPair

FRAMES = Path(__file__).with_name("frames.jsonl")
EVIDENCE = Path(__file__).with_name("evidence.jsonl")

_SHORT = 0.35
_LONG = 0.45
"""Shares of labelled pairs among the examples: those read whole, and those that are longer."""
_LENGTHENED = 0.3
"""So many of the short responses have other sentences around them."""
_ELSEWHERE = 0.25
"""So many of the labelled responses stand beside a claim that they say nothing about."""
_CLAIM = "{claim}"
_OPPOSITE = "{opposite}"
_TURNED_SHARE = 0.5
"""So many answers are to somebody who asked about the opposite, where that is known."""
_TURNED: dict[str, Stance] = {"agree": "disagree", "disagree": "agree", "neutral": "neutral"}
_KINDS = ("essay", "evidence", "frame")
_KIND_WEIGHTS = (5, 3, 2)
_NEUTRAL = ("mixed", "facts", "other claim", "declined")
_NEUTRAL_WEIGHTS = (5, 3, 3, 2)


@dataclass(frozen=True, slots=True)
class Example:
    """A pair to learn from."""

    pair: Pair
    label: Stance


@dataclass(frozen=True, slots=True, kw_only=True)
class _Topic:
    """A claim and what may be said of it."""

    claim: str
    opposite: str
    language: str
    group: str
    evidence: Mapping[Stance, str] = field(default_factory=dict)


def examples(
    pairs: Sequence[LabelledPair], *, count: int, seed: str, without: frozenset[str]
) -> list[Example]:
    """Return *count* examples; the same *pairs* and *seed* give the same ones.

    Args:
        pairs: that were labelled, of the split ``train``.
        count: of examples.
        seed: of everything that is drawn.
        without: groups of claims that nothing is made of: those that are measured on.
    """
    draw = random.Random(seed)  # noqa: S311  no secrets are drawn
    topics = [each for each in _topics(pairs) if each.group not in without]
    by_language: dict[str, list[_Topic]] = defaultdict(list)
    for topic in topics:
        by_language[topic.language].append(topic)
    languages = sorted(by_language)
    claims = _claims(pairs)
    written = [
        _written(each, claims[each.pair.language], draw)
        for some, share in _by_length(pairs)
        for each in draw.choices(some, _weights(some), k=round(count * share))
    ]
    composed = (
        _composed(by_language[draw.choice(languages)], draw) for _ in range(count - len(written))
    )
    return [*written, *composed]


def _by_length(pairs: Sequence[LabelledPair]) -> list[tuple[list[LabelledPair], float]]:
    """Return the short pairs and the long ones, if any, each with its share of the examples."""
    short = [each for each in pairs if _is_short(each.pair)]
    long = [each for each in pairs if not _is_short(each.pair)]
    if not (short and long):
        return [(list(pairs), _SHORT + _LONG)]
    return [(short, _SHORT), (long, _LONG)]


_is_short = cache(is_read_whole)  # asked of each pair for every batch


def _claims(pairs: Sequence[LabelledPair]) -> dict[str, list[tuple[str, str]]]:
    """Return by language the group and the words of each claim and each opposite."""
    claims: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for each in pairs:
        claims[each.pair.language] |= {
            (each.group, text) for text in (each.pair.about, each.opposite) if text
        }
    return {language: sorted(texts) for language, texts in claims.items()}


def _weights(pairs: Sequence[LabelledPair]) -> list[float]:
    """Return what makes languages equally frequent, and in each of them the stances.

    Responses beside a claim of another question are neutral, and take their part of that share.
    """
    share = {stance: 1 / len(STANCES) for stance in STANCES}
    share["neutral"] -= _ELSEWHERE
    counts = Counter((each.pair.language, each.label) for each in pairs)
    return [share[each.label] / counts[each.pair.language, each.label] for each in pairs]


def _written(
    labelled: LabelledPair, claims: Sequence[tuple[str, str]], draw: random.Random
) -> Example:
    """Return a labelled pair, at times with sentences around it that are beside the point.

    Or what its response says of another claim: of the opposite the other stance, and nothing of
    *claims* of other groups.
    """
    pair, label = labelled.pair, labelled.label
    others = [text for group, text in claims if group != labelled.group]
    if others and draw.random() < _ELSEWHERE:
        pair, label = replace(pair, about=draw.choice(others)), "neutral"
    elif labelled.opposite and draw.random() < _TURNED_SHARE:
        pair, label = replace(pair, about=labelled.opposite), _TURNED[label]
    if not _is_short(labelled.pair) or draw.random() >= _LENGTHENED:
        return Example(pair, label)
    around = [
        s
        for role in draw.choices(("aside", "echo"), (4, 1), k=3)
        if (s := _frame(pair.language, role, pair.about, "", draw))
    ]
    cut = draw.randint(0, len(around))
    whole = [*around[:cut], *sentences(pair.response, pair.language), *around[cut:]]
    return Example(replace(pair, response=_joined(whole, draw)), label)


def _composed(topics: Sequence[_Topic], draw: random.Random) -> Example:
    topic = draw.choice(topics)
    label: Stance = draw.choice(("agree", "disagree", "neutral"))
    kind = draw.choices(_KINDS, _KIND_WEIGHTS)[0]
    asked = topic.claim
    said = label
    # Whoever is asked about the opposite says the same and takes the other stance.
    turned = bool(topic.opposite) and kind != "frame" and draw.random() < _TURNED_SHARE
    if turned:
        asked, said = topic.opposite, _TURNED[label]
    if kind == "evidence" and topic.evidence:
        text = topic.evidence[said]
    elif kind == "frame":
        text = _frame(topic.language, said, asked, topic.opposite, draw)
    else:
        text = _joined(_essay(topic, said, asked, topics, draw), draw)
    return Example(Pair(about=asked, response=text, language=topic.language), label)


@dataclass(frozen=True, slots=True)
class _Writer:
    """Draws sentences about a topic for somebody who asked about its claim or the opposite."""

    topic: _Topic
    asked: str
    draw: random.Random

    def frame(self, role: str, chance: float = 1.0) -> list[str]:
        """Return, by *chance*, a sentence of *role*; none where the language has none."""
        # "Yes, that is right" and "no such effect" are about what was asked.
        turned = self.asked != self.topic.claim
        if self.draw.random() >= chance or (turned and role in {"for", "against"}):
            return []
        fit = [
            sentence
            for sentence in _frames().get((self.topic.language, role), ())
            if (self.topic.opposite or _OPPOSITE not in sentence)
            and not (turned and role in {"agree", "disagree"} and "{" not in sentence)
        ]
        if not fit:
            return []
        claim = self.asked if role == "echo" else self.topic.claim
        drawn = self.draw.choice(fit)
        return [drawn.replace(_CLAIM, claim).replace(_OPPOSITE, self.topic.opposite)]

    def evidence(self, stance: Stance, chance: float = 1.0) -> list[str]:
        """Return, by *chance*, what speaks for the stance; nothing where nothing is known."""
        told = self.topic.evidence.get(stance)
        return [told] if told and self.draw.random() < chance else []


def _essay(
    topic: _Topic, said: Stance, asked: str, topics: Sequence[_Topic], draw: random.Random
) -> list[str]:
    """Return the sentences of an answer that takes the stance *said* towards the topic's claim.

    Args:
        topic: what it is about.
        said: towards the claim of *topic*, whichever is asked about.
        asked: the claim or its opposite: openings echo it.
        topics: others, for answers that are beside the point.
        draw: everything is drawn from it.
    """
    writer = _Writer(topic, asked, draw)
    opening = writer.frame("echo", 0.5) + writer.frame("aside", 0.2)
    close = writer.frame("aside", 0.5)
    around = writer.evidence("neutral", 0.5) + writer.frame("aside", 0.5)
    if said != "neutral":
        return opening + _opinion(writer, said) + around + writer.frame(said, 0.3) + close
    way = draw.choices(_NEUTRAL, _NEUTRAL_WEIGHTS)[0]
    if way == "facts" and topic.evidence:
        told = writer.evidence("neutral") + writer.frame("aside") + writer.frame("aside", 0.5)
        return opening + told
    if way == "other claim":
        other = draw.choice([each for each in topics if each.group != topic.group] or [topic])
        if other is not topic:
            stance: Stance = draw.choice(("agree", "disagree"))
            return _essay(other, stance, other.claim, topics, draw)
    if way == "declined":
        return _generic(topic.language, "neutral", draw) + close
    both = (
        writer.evidence("agree", 0.6)
        + writer.frame("mixed", 0.6)
        + writer.evidence("disagree", 0.6)
    )
    return opening + writer.frame("neutral") + both + around + writer.frame("neutral", 0.5) + close


def _opinion(writer: _Writer, said: Stance) -> list[str]:
    """Return what takes the stance; at times the other side is granted something first."""
    concession = writer.evidence(_TURNED[said], 0.25)
    role = "for" if said == "agree" else "against"
    core = writer.frame(said, 0.85) + writer.evidence(said, 0.8) + writer.frame(role, 0.5)
    core = core or writer.frame(said)
    if concession:  # what comes later counts
        return [*concession, *(writer.frame(said) or core), *core]
    return writer.draw.sample(core, len(core))


def _generic(language: str, role: str, draw: random.Random) -> list[str]:
    """Return a sentence of *role* that names no claim."""
    return draw.sample([s for s in _frames()[language, role] if "{" not in s], 1)


def _frame(language: str, role: str, claim: str, opposite: str, draw: random.Random) -> str:
    fit = [s for s in _frames().get((language, role), ()) if opposite or _OPPOSITE not in s]
    if not fit:
        return ""
    return draw.choice(fit).replace(_CLAIM, claim).replace(_OPPOSITE, opposite)


def _joined(parts: Sequence[str], draw: random.Random) -> str:
    return draw.choices((" ", "\n\n", "\n- "), (5, 3, 1))[0].join(parts)


def _topics(pairs: Sequence[LabelledPair]) -> list[_Topic]:
    """Return the topics of the evidence that comes along, and the claims of *pairs*."""
    topics = [
        _Topic(
            claim=row["claim"],
            opposite=row["opposite"],
            language=row["language"],
            group=row["claim_id"],
            evidence={
                stance: row[side]
                for side, stance in zip(("for", "against", "neither"), STANCES, strict=True)
                if side in row
            },
        )
        for row in _rows(EVIDENCE)
    ]
    claims: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for p in pairs:
        claims[p.group, p.pair.language][p.claim_id] = p.pair.about
    for (group, language), texts in claims.items():
        for claim_id, claim in texts.items():
            opposite = next((text for other, text in texts.items() if other != claim_id), "")
            topics.append(_Topic(claim=claim, opposite=opposite, language=language, group=group))
    return topics


@cache
def _frames() -> dict[tuple[str, str], tuple[str, ...]]:
    return {(row["language"], row["role"]): tuple(row["sentences"]) for row in _rows(FRAMES)}


def _rows(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
