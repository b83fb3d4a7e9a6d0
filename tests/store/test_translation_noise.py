"""What translation does to metrics, in the store."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_xling.store.measurements import Mean, TranslationNoise, add_noise, noise_of

if TYPE_CHECKING:
    from pytest_xling.store.database import Database

NOISE = TranslationNoise(
    metric="m",
    signature="m|v1",
    translator="translate|v1",
    text_in="english",
    language="hi",
    source="run-1/b",
    created_at="2026-11-21T10:00:00.000+00:00",
    matched=Mean(value=0.9, low=0.8, high=0.95, n=9, unscored=1, reason="degenerate"),
    mismatched=None,
    cost=Mean(value=0.1, low=0.05, high=0.2, n=9),
)


def test_what_was_measured_last_counts(database: Database) -> None:
    """By signature and language; measured again on the same answers, the earlier is gone."""
    later = replace(NOISE, created_at="2026-11-22T10:00:00.000+00:00", mismatched=NOISE.cost)
    other = replace(NOISE, source="file@1", created_at="2026-11-21T12:00:00.000+00:00")
    with database.write() as connection:
        for noise in (NOISE, other):
            add_noise(connection, noise)
        assert other == noise_of(connection, signature="m|v1", language="hi")
        add_noise(connection, later)
        assert later == noise_of(connection, signature="m|v1", language="hi")
        (rows,) = connection.exec_driver_sql("SELECT count(*) FROM translation_noise").one()
        assert noise_of(connection, signature="m|v1", language="zh") is None
        assert noise_of(connection, signature="m|v2", language="hi") is None
    assert 2 == rows
