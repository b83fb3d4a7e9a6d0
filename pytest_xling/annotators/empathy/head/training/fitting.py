"""Train the classifier of empathy: read the texts once, tune on dev, measure on test.

What takes minutes is kept in a folder as it is made, so that training that was cut off goes on from
there and ends in the same weights.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from safetensors.numpy import load_file, save

from pytest_xling.annotators.empathy.head.training.baselines import tfidf_regression
from pytest_xling.annotators.empathy.head.training.examples import digest
from pytest_xling.annotators.empathy.head.training.network import BATCH, balanced_loss, fitted
from pytest_xling.annotators.empathy.head.weights import HALF, Weights, states_of
from pytest_xling.encoders.opening import encoder_identity
from pytest_xling.files.whole import whole, whole_bytes
from pytest_xling.keys import content_key
from pytest_xling.stats.labelling import labelling
from pytest_xling.text.empathy import MECHANISMS, PRESENCES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from pytest_xling.annotators.empathy.head.training.examples import Example
    from pytest_xling.encoders import Encoder
    from pytest_xling.stats.label_quality import Labelling
    from pytest_xling.text.empathy import Mechanism

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
    """By mechanism, then by ``classifier``, ``TF-IDF + regression`` and ``majority``."""
    by_language: Mapping[tuple[Mechanism, str], Labelling]
    """Of the classifier, where there are several languages."""


def train(
    examples: Sequence[Example],
    encoder: Encoder,
    *,
    spec: str,
    seed: int,
    folder: Path,
    progress: Callable[[str, int, int], None],
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
    kept = _Kept(folder, content_key(about).hex()[:16])
    texts = sorted({t for e in examples for t in (e.pair.seeker, e.pair.response)}, key=_by_length)
    states: dict[str, NDArray[np.float16]] = {}
    for start in range(0, len(texts), _AT_ONCE):
        some = texts[start : start + _AT_ONCE]
        states |= kept.states(some, encoder, layer=layer, number=start // _AT_ONCE)
        progress("reading texts", min(start + _AT_ONCE, len(texts)), len(texts))
    learnt, dev, test = (
        [e for e in examples if e.split == split] for split in ("train", "dev", "test")
    )

    def weights_of(shown: Sequence[Example], *, rate: float, epochs: int, what: str) -> Weights:
        done = iter(range(1, epochs + 1))
        progress(what, 0, epochs)
        tensors = fitted(
            shown,
            states,
            rate=rate,
            epochs=epochs,
            seed=seed,
            after_epoch=lambda: progress(what, next(done), epochs),
        )
        return Weights(tensors=tensors, about=about)

    losses: dict[tuple[float, int], float] = {}
    tried_epochs = [max(1, round(steps * BATCH / len(learnt))) for steps in STEPS]
    for rate, epochs in product(RATES, tried_epochs):
        what = f"tuning: rate {rate:g}, {epochs} epochs"

        def dev_loss(rate: float = rate, epochs: int = epochs, what: str = what) -> float:
            weights = weights_of(learnt, rate=rate, epochs=epochs, what=what)
            return balanced_loss(dev, _likely(dev, weights, states))

        losses[rate, epochs] = kept.number(f"loss-{rate:g}-{epochs}", dev_loss)
    rate, epochs = min(losses, key=lambda tried: (losses[tried], tried))
    shown = [*learnt, *dev]
    weights = weights_of(shown, rate=rate, epochs=epochs, what="training")
    about |= {
        "rate": rate,
        "epochs": epochs,
        "dev_loss": {f"{r:g}, {e}": round(loss, 4) for (r, e), loss in losses.items()},
    }
    likely = _likely(test, weights, states)
    measured: dict[Mechanism, dict[str, Labelling]] = {}
    by_language: dict[tuple[Mechanism, str], Labelling] = {}
    for mechanism in MECHANISMS:
        own = [e for e in shown if mechanism in e.labels]
        asked = [(e, share) for e, share in zip(test, likely, strict=True) if mechanism in e.labels]
        known = [e.labels[mechanism] for e in own]
        wanted = [e for e, _ in asked]
        most = sum(known) * 2 > len(known)
        given: dict[str, list[bool]] = {
            "classifier": [share[mechanism] >= HALF for _, share in asked],
            "TF-IDF + regression": tfidf_regression(
                [e.pair for e in own], known, [e.pair for e in wanted]
            ),
            "majority": [most] * len(asked),
        }
        measured[mechanism] = {
            name: _quality(wanted, labels, mechanism) for name, labels in given.items()
        }
        languages = sorted({e.pair.language for e in wanted})
        for language in languages if len(languages) > 1 else ():
            there = [n for n, e in enumerate(wanted) if e.pair.language == language]
            by_language[mechanism, language] = _quality(
                [wanted[n] for n in there], [given["classifier"][n] for n in there], mechanism
            )
        about.setdefault("test_macro_f1", {})[mechanism] = _rounded(measured[mechanism])
    return Trained(weights=weights, measured=measured, by_language=by_language)


def _likely(
    examples: Sequence[Example], weights: Weights, states: Mapping[str, NDArray[np.float16]]
) -> list[dict[Mechanism, float]]:
    return [
        weights.probabilities(
            states[e.pair.response].astype(np.float32), states[e.pair.seeker].astype(np.float32)
        )
        for e in examples
    ]


def _quality(examples: Sequence[Example], given: Sequence[bool], mechanism: Mechanism) -> Labelling:
    present, absent = PRESENCES
    return labelling(
        [present if e.labels[mechanism] else absent for e in examples],
        [present if each else absent for each in given],
        labels=PRESENCES,
        clusters=[e.post for e in examples],
    )


def _rounded(measured: Mapping[str, Labelling]) -> float | None:
    value = measured["classifier"].macro_f1.value
    return None if value is None else round(value, 4)


def _by_length(text: str) -> tuple[int, str]:
    return len(text), text


@dataclass(frozen=True, slots=True)
class _Kept:
    """What is done already, under a name that changes with whatever would change it."""

    folder: Path
    key: str

    def states(
        self, texts: Sequence[str], encoder: Encoder, *, layer: int, number: int
    ) -> dict[str, NDArray[np.float16]]:
        """Return the states of the tokens of *texts*, in 16 bits: read once, then kept."""
        path = self.folder / f"{self.key}-states-{number}.safetensors"
        if not path.exists():
            read = states_of(texts, encoder, layer=layer)
            halves = {str(n): read[text].astype(np.float16) for n, text in enumerate(texts)}
            with whole_bytes(path) as file:
                file.write(save(halves))
        kept = load_file(path)
        return {text: kept[str(n)] for n, text in enumerate(texts)}

    def number(self, name: str, compute: Callable[[], float]) -> float:
        """Return a number: computed once, then kept."""
        path = self.folder / f"{self.key}-{name}.json"
        if not path.exists():
            value = compute()
            with whole(path) as file:
                file.write(json.dumps(value))
        return float(json.loads(path.read_text(encoding="utf-8")))
