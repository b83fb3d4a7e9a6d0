"""Fit the stance classifier, and choose how much its weights are held back."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from pytest_xling.annotators.stance.head.features import (
    LEAST_SPREAD,
    SIGNS,
    UNIT,
    feature_version,
    stance_features,
)
from pytest_xling.annotators.stance.head.training.examples import examples
from pytest_xling.annotators.stance.head.training.pairs import digest
from pytest_xling.annotators.stance.head.weights import Weights
from pytest_xling.encoders.opening import encoder_identity
from pytest_xling.errors import DataError
from pytest_xling.stats.logistic_regression import fit_logistic
from pytest_xling.text.stance import STANCES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_xling.annotators.stance.head.training.examples import Example
    from pytest_xling.annotators.stance.head.training.pairs import LabelledPair
    from pytest_xling.encoders import Encoder
    from pytest_xling.keys import JsonValue
    from pytest_xling.text.stance import Stance

__all__ = ["Trained", "macro_f1", "predicted", "train"]

PENALTIES: Final = (0.1, 0.03, 0.01, 0.003)
_SLACK = 0.01
"""Of penalties whose macro F1 differs by less, the strongest is taken: they hardly differ on the
written pairs, and it is the least likely to have learnt them by heart."""
FOLDS: Final = 10
_EXACT = 1e-10
_ROUGH = 1e-5
"""Enough to choose a penalty by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """Weights, and what they would say of written pairs without having learnt their claims."""

    weights: Weights
    unseen: tuple[Stance, ...]
    """For each pair: by weights of the folds that its claim is not in."""
    penalty: float


def train(pairs: Sequence[LabelledPair], encoder: Encoder, *, seed: int) -> Trained:
    """Train on *pairs*; the same ones, in any order, with the same seed give the same weights.

    The penalty is the strongest that comes close to the highest macro F1 on written pairs, each
    predicted by weights that have not seen its claim.

    Raises:
        DataError: the claims are too few to leave some out, or a stance is missing.
    """
    _check_enough(pairs)
    shown = examples(sorted(pairs, key=_order), seed=seed)
    features = stance_features([example.labelled.pair for example in shown], encoder)
    written = [number for number, example in enumerate(shown) if not example.made]
    known = [shown[number].labelled.label for number in written]
    folds = _folds(shown, seed=seed)
    unseen: dict[float, list[Stance]] = {
        penalty: _unseen(features, shown, folds, penalty=penalty) for penalty in PENALTIES
    }
    scores = {penalty: macro_f1(known, predicted) for penalty, predicted in unseen.items()}
    enough = max(scores.values()) - _SLACK
    penalty = next(each for each in PENALTIES if scores[each] >= enough)
    coefficients, intercepts = fit(features, shown, penalty=penalty)
    about: dict[str, JsonValue] = {
        "encoder": encoder_identity(encoder),
        "features": feature_version(),
        "labels": list(STANCES),
        "macro_f1_unseen_claims": round(scores[penalty], 4),
        "pairs": digest(pairs),
        "penalty": penalty,
        "seed": seed,
    }
    weights = Weights(coefficients=coefficients, intercepts=intercepts, about=about)
    by_pair = dict(zip((_order(shown[n].labelled) for n in written), unseen[penalty], strict=True))
    return Trained(
        weights=weights, unseen=tuple(by_pair[_order(pair)] for pair in pairs), penalty=penalty
    )


def predicted(weights: Weights, features: NDArray[np.float64]) -> list[Stance]:
    """Return the likeliest stance of each row."""
    return [STANCES[place] for place in weights.probabilities(features).argmax(axis=1)]


def macro_f1(known: Sequence[str], predicted: Sequence[str]) -> float:
    """Return the mean F1 of the three stances; one that is neither known nor said counts 0."""
    pairs = list(zip(known, predicted, strict=True))
    scores = []
    for stance in STANCES:
        both = sum(stance == right == given for right, given in pairs)
        either = sum((stance == right) + (stance == given) for right, given in pairs)
        scores.append(2 * both / either if either else 0.0)
    return sum(scores) / len(scores)


def fit(
    features: NDArray[np.float64],
    shown: Sequence[Example],
    *,
    penalty: float,
    tolerance: float = _EXACT,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return coefficients and intercepts of a softmax regression on *features*.

    It minimises the weighted mean of the negative log-likelihood and half of *penalty* times the
    squared coefficients of the features brought to one scale, whose signs are those of ``SIGNS``.
    That has one minimum; the slope there is at most *tolerance*.
    """
    written = features[[not example.made for example in shown]]
    centre = written.mean(axis=0)
    scale = np.array(UNIT) / np.maximum(written.std(axis=0), LEAST_SPREAD)
    scaled = (features - centre) * scale
    weights = np.array([example.weight for example in shown])
    coefficients, intercepts = fit_logistic(
        scaled,
        np.array([STANCES.index(example.labelled.label) for example in shown]),
        classes=len(STANCES),
        weights=weights / weights.sum(),
        penalty=penalty,
        bounds=[
            (0.0 if sign > 0 else None, 0.0 if sign < 0 else None) for of in SIGNS for sign in of
        ],
        tolerance=tolerance,
    )
    coefficients *= scale[:, None]
    return coefficients, intercepts - centre @ coefficients


def _unseen(
    features: NDArray[np.float64],
    shown: Sequence[Example],
    folds: NDArray[np.int64],
    *,
    penalty: float,
) -> list[Stance]:
    """Return for each written pair what weights say that have not seen its claim."""
    written = np.array([not example.made for example in shown])
    predicted = np.zeros(len(shown), np.int64)
    for fold in np.unique(folds):
        others = np.flatnonzero(folds != fold)
        coefficients, intercepts = fit(
            features[others],
            [shown[int(place)] for place in others],
            penalty=penalty,
            tolerance=_ROUGH,
        )
        own = np.flatnonzero((folds == fold) & written)
        predicted[own] = (features[own] @ coefficients + intercepts).argmax(axis=1)
    return [STANCES[place] for place in predicted[written]]


def _folds(shown: Sequence[Example], *, seed: int) -> NDArray[np.int64]:
    """Return the fold of each example; all of a claim, and of its negation, are in one."""
    groups = {example.labelled.group for example in shown}
    drawn = sorted(groups, key=lambda group: hashlib.sha256(f"{seed}\0{group}".encode()).digest())
    fold = {group: number % FOLDS for number, group in enumerate(drawn)}
    return np.array([fold[example.labelled.group] for example in shown])


def _check_enough(pairs: Sequence[LabelledPair]) -> None:
    groups = {pair.group for pair in pairs}
    for stance in STANCES:
        of = {pair.group for pair in pairs if pair.label == stance}
        if len(of) < 2:  # noqa: PLR2004  one left out, one to learn from
            msg = (
                f"too few pairs to train on: {len(pairs)} about {len(groups)} claims, and "
                f"{stance!r} is the label of {len(of)} of these; give each label pairs about at "
                "least two claims ('claim_id')"
            )
            raise DataError(msg)


def _order(pair: LabelledPair) -> tuple[str, str, str, str]:
    return pair.claim_id, pair.pair.language, pair.pair.claim, pair.pair.response
