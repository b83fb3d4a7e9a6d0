"""A store that was recorded before the house was made smaller: everything comes out as then."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.golden.__main__ import differences, expected, made_again, unpacked
from tests.golden.runs import Place

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_warm_runs_of_every_benchmark(tmp_path: Path) -> None:
    """Nothing is asked or scored anew; keys, signatures, estimates and verdicts are equal."""
    place = Place(tmp_path)
    unpacked(place)
    again = json.loads(json.dumps(made_again(place)))
    assert not differences(expected(), again)


def test_a_difference_is_found() -> None:
    """Of any value, and of a number in all but its last digits."""
    then = {"gate": [{"p": 0.005473122611160065, "n": 60}, None]}
    assert not differences(then, {"gate": [{"p": 0.005473122611160055, "n": 60}, None]})
    assert ["/gate/0/p: 0.005473122611160065 -> 0.00547312261"] == differences(
        then, {"gate": [{"p": 0.00547312261, "n": 60}, None]}
    )
    assert 2 == len(differences(then, {"gate": [{"p": 0.005473122611160065, "n": 61}, 0.0]}))
