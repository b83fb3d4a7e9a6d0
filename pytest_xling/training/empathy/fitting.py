"""Train the classifier of empathy: read the texts once, tune on dev, measure on test.

What takes minutes is kept in a folder as it is made, so that training that was cut off goes on from
there and ends in the same weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from safetensors.numpy import load_file, save
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from pytest_xling.annotators.empathy.head.weights import HALF, Weights, states_of
from pytest_xling.encoders.opening import encoder_identity
from pytest_xling.files.whole import whole_bytes
from pytest_xling.keys import content_key
from pytest_xling.stats.labelling import labelling
from pytest_xling.text.empathy import MECHANISMS, PRESENCES
from pytest_xling.text.words import words
from pytest_xling.training.empathy.examples import digest
from pytest_xling.training.empathy.network import BATCH, balanced_loss, fitted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from pytest_xling.encoders import Encoder
    from pytest_xling.stats.label_quality import Labelling
    from pytest_xling.text.empathy import Mechanism
    from pytest_xling.training.empathy.examples import Example
    from pytest_xling.training.trainer import Progress

RATES: Final = (5e-4, 1e-3, 2e-3)
STEPS: Final = (225, 450)
"""So many, whatever there is to learn from: of EPITOME 3 and 6 epochs, of a few hundred pairs more.
"""
_VERSION = "1"
"""Raised whenever the same examples would make other weights by a change of code."""
_DEPTH = 2 / 3
"""Layers are read so deep: the last ones of an encoder of sentences are alike over all tokens."""
_AT_ONCE = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """Weights, and how well they and two baselines do on the test posts."""

    weights: Weights
    measured: Mapping[Mechanism, Mapping[str, Labelling]]
    """By mechanism, then by ``classifier``, ``TF-IDF + regression`` and ``majority``; where there
    are several languages, also by ``classifier, LANGUAGE``."""


def train(
    examples: Sequence[Example],
    encoder: Encoder,
    *,
    spec: str,
    seed: int,
    folder: Path,
    progress: Progress,
) -> Trained:
    """Train on *examples*; the same ones, in any order, with the same seed give the same weights.

    Learning rate and epochs are those with the least loss on dev; the weights that are returned
    are learnt from train and dev together, as in the paper (appendix C.1).

    Args:
        examples: of all splits.
        encoder: reads the texts; it stays as it is.
        spec: what the encoder is called.
        seed: of the first weights, of the order and of dropout.
        folder: keeps what is done; need not be empty.
        progress: told of a step, how much of it is done, and how much there is.

    Raises:
        EvaluationError: the encoder gives NaN or infinity.
    """
    layer = max(1, round(_DEPTH * encoder.layers))
    about: dict[str, Any] = {
        "encoder": spec,
        "identity": encoder_identity(encoder),
        "layer": layer,
        "pairs": digest(examples),
        "seed": seed,
        "training": _VERSION,
    }
    key = content_key(about).hex()[:16]
    states = _states(examples, encoder, layer=layer, kept=folder / key, progress=progress)
    learnt, dev, test = (
        [e for e in examples if e.split == split] for split in ("train", "dev", "test")
    )

    def weights_of(what: str, shown: Sequence[Example], rate: float, epochs: int) -> Weights:
        tensors = fitted(
            shown,
            states,
            rate=rate,
            epochs=epochs,
            seed=seed,
            kept=folder / f"{key}-{what}-{rate:g}-{epochs}.safetensors",
            progress=partial(progress, f"{what}: rate {rate:g}, {epochs} epochs"),
        )
        return Weights(tensors=tensors, about=about)

    tried = product(RATES, [max(1, round(steps * BATCH / len(learnt))) for steps in STEPS])
    losses = {
        (rate, epochs): balanced_loss(
            dev, _likely(dev, weights_of("tuning", learnt, rate, epochs), states)
        )
        for rate, epochs in tried
    }
    rate, epochs = min(losses, key=lambda way: (losses[way], way))
    shown = [*learnt, *dev]
    weights = weights_of("training", shown, rate, epochs)
    about |= {
        "rate": rate,
        "epochs": epochs,
        "dev_loss": {f"{r:g}, {e}": round(loss, 4) for (r, e), loss in losses.items()},
    }
    likely = _likely(test, weights, states)
    measured: dict[Mechanism, dict[str, Labelling]] = {}
    for mechanism in MECHANISMS:
        own = [e for e in shown if mechanism in e.labels]
        known = [e.labels[mechanism] for e in own]
        asked = [(e, share) for e, share in zip(test, likely, strict=True) if mechanism in e.labels]
        wanted = [e for e, _ in asked]
        found = [share[mechanism] >= HALF for _, share in asked]
        most = sum(known) * 2 > len(known)
        measured[mechanism] = {
            "classifier": _quality(wanted, found, mechanism),
            "TF-IDF + regression": _quality(wanted, _by_words(own, known, wanted), mechanism),
            "majority": _quality(wanted, [most] * len(wanted), mechanism),
        }
        languages = sorted({e.pair.language for e in wanted})
        for language in languages if len(languages) > 1 else ():
            there = [n for n, e in enumerate(wanted) if e.pair.language == language]
            measured[mechanism][f"classifier, {language}"] = _quality(
                [wanted[n] for n in there], [found[n] for n in there], mechanism
            )
        value = measured[mechanism]["classifier"].macro_f1.value
        rounded = None if value is None else round(value, 4)
        about.setdefault("test_macro_f1", {})[mechanism] = rounded
    return Trained(weights=weights, measured=measured)


def _by_words(
    learnt: Sequence[Example], known: Sequence[bool], asked: Sequence[Example]
) -> list[bool]:
    """Return what a classifier has to beat says of *asked*: words of the response, by regression.

    Of words and pairs of words, by TF-IDF; both classes weigh the same. The post is not read.
    """
    texts = TfidfVectorizer(analyzer=_terms, sublinear_tf=True)
    regression = LogisticRegression(class_weight="balanced", max_iter=1000)
    regression.fit(texts.fit_transform(learnt), known)
    present: list[bool] = regression.predict(texts.transform(asked)).tolist() if asked else []
    return present


def _terms(example: Example) -> list[str]:
    single = words(example.pair.response, example.pair.language)
    return [*single, *(f"{first} {second}" for first, second in pairwise(single))]


def _likely(
    examples: Sequence[Example], weights: Weights, states: Mapping[str, NDArray[np.float16]]
) -> list[dict[Mechanism, float]]:
    return [
        weights.probabilities(
            states[e.pair.response].astype(np.float32), states[e.pair.about].astype(np.float32)
        )
        for e in examples
    ]


def _quality(
    examples: Sequence[Example], predicted: Sequence[bool], mechanism: Mechanism
) -> Labelling:
    present, absent = PRESENCES
    return labelling(
        [present if e.labels[mechanism] else absent for e in examples],
        [present if each else absent for each in predicted],
        labels=PRESENCES,
        clusters=[e.post for e in examples],
    )


def _states(
    examples: Sequence[Example], encoder: Encoder, *, layer: int, kept: Path, progress: Progress
) -> dict[str, NDArray[np.float16]]:
    """Return the states of the tokens of each text, in 16 bits: read once, then kept in files."""
    distinct = {text for e in examples for text in (e.pair.about, e.pair.response)}
    texts = sorted(distinct, key=lambda text: (len(text), text))
    states: dict[str, NDArray[np.float16]] = {}
    for number, start in enumerate(range(0, len(texts), _AT_ONCE)):
        some = texts[start : start + _AT_ONCE]
        path = kept.with_name(f"{kept.name}-states-{number}.safetensors")
        if not path.exists():
            read = states_of(some, encoder, layer=layer)
            halves = {str(n): read[text].astype(np.float16) for n, text in enumerate(some)}
            with whole_bytes(path) as file:
                file.write(save(halves))
        halves = load_file(path)
        states |= {text: halves[str(n)] for n, text in enumerate(some)}
        progress("reading texts", len(states), len(texts))
    return states
