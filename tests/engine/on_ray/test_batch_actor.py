"""What an actor sends back."""

from __future__ import annotations

import pickle

from pytest_xling.engine.on_ray.batch_actor import portable
from pytest_xling.errors import ConfigError


def test_an_error_met_again_and_again_stays_as_small() -> None:
    """A model that cannot be loaded answers every request with the same error."""
    error = ConfigError("not there")
    error.add_note("by whoever raised it")
    sent = [len(pickle.dumps(portable(error))) for _ in range(8)]
    assert 1 == len(set(sent))
    assert error.__notes__[0] == "by whoever raised it"
    assert error.__notes__[1].startswith("On Ray:\n")
