"""Softmax regression whose coefficients are held back by an L2 penalty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ITERATIONS = 5000


def fit_logistic(
    features: Any,  # noqa: ANN401  an array, or one of scipy's sparse matrices
    labels: NDArray[np.int64],
    *,
    classes: int,
    weights: NDArray[np.float64],
    penalty: float,
    tolerance: float = 1e-6,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return coefficients, shape (features, classes), and intercepts, shape (classes,).

    They minimise the sum of the weighted negative log-likelihoods and half of *penalty* times the
    squared coefficients, which has one minimum; the slope there is at most *tolerance*.

    Args:
        features: shape (rows, features).
        labels: the number of each row's class.
        classes: how many there are.
        weights: of the rows.
        penalty: on the coefficients, not on the intercepts.
        tolerance: see above.
    """
    wanted = np.eye(classes)[labels]
    shape = features.shape[1], classes

    def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        coefficients, intercepts = flat[:-classes].reshape(shape), flat[-classes:]
        scores = features @ coefficients + intercepts
        scores -= scores.max(axis=1, keepdims=True)
        logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        error = (np.exp(logs) - wanted) * weights[:, None]
        slope = features.T @ error + penalty * coefficients
        value = -float(weights @ logs[np.arange(len(labels)), labels])
        value += penalty * float((coefficients**2).sum()) / 2
        return value, np.concatenate([slope.ravel(), error.sum(axis=0)])

    minimum: Any = minimize(
        loss,
        np.zeros(shape[0] * classes + classes),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": _ITERATIONS, "maxfun": _ITERATIONS, "ftol": 0.0, "gtol": tolerance},
    )
    return minimum.x[:-classes].reshape(shape), minimum.x[-classes:]
