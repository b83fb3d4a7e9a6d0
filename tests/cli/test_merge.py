"""``xling merge``: what is not one whole run is refused, and said why."""

from __future__ import annotations

import json
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.engine.leases import this_process
from pytest_xling.records import RunRecord
from pytest_xling.store.cases import CaseRow, add_cases, add_run_steps
from pytest_xling.store.database import Database
from pytest_xling.store.outputs import step_id
from pytest_xling.store.runs import add_run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from tests.cli.conftest import Xling


RUN = RunRecord(
    run_id="",
    model="gpt-4o",
    created_at="2026-11-22T10:00:00.000+00:00",
    status="complete",
    settings={"model": "gpt-4o", "run_name": "night", "seed": 0, "limits": "6f1c"},
    versions={"python": "3.11.9", "openai": "3.50.0"},
    git="",
    seed=0,
)


@pytest.fixture
def merge(tmp_path: Path, xling: Xling, monkeypatch: pytest.MonkeyPatch) -> Xling:
    """The command in a folder of its own, with no store to merge into."""
    monkeypatch.chdir(tmp_path)
    return xling.on(tmp_path / "merged.sqlite")


@contextmanager
def _written(name: str) -> Iterator[Connection]:
    """Give a connection to a store, what is written is kept."""
    with closing(Database(Path(name))) as database, database.write() as connection:
        yield connection


def _store(
    name: str, *shards: str, run_name: str = "night", scored_by: str = "1", **changes: Any
) -> str:
    """Make a store with shards of a run, each scored with a version of a metric."""
    for shard in shards:
        settings = {**RUN.settings, "run_name": run_name, "shard": shard}
        settings |= changes.get("settings", {})
        run_id = f"{run_name}.{shard.replace('/', 'of')}"
        with _written(name) as connection:
            add_run(connection, replace(RUN, **{**changes, "run_id": run_id, "settings": settings}))
            step = step_id(
                connection, kind="metric", name="emoji", version=scored_by, parameters={}
            )
            add_run_steps(connection, run_id, {"culture": [step]})
    return name


def _refused(merge: Xling, *arguments: str) -> str:
    """Return why the command refuses; nothing is made then."""
    said = merge("merge", *arguments, code=4)
    assert not merge.store.exists()
    return said.err


def test_all_shards_must_be_there_once(merge: Xling) -> None:
    """A missing one is named, one that is there twice with both places, and so is another count."""
    first, third = _store("a.sqlite", "1/4"), _store("c.sqlite", "3/4")
    assert "run night is not whole: no store named here has shards 2, 4 of 4" in _refused(
        merge, first, third
    )
    assert (
        "there twice: shard 1 of 4 (run night.1of4 in a.sqlite) and shard 1 of 4 (run night.1of4 "
        "in a.sqlite); leave one of the stores out" in _refused(merge, first, first)
    )
    for name in ("one", "two"):
        _store("d.sqlite", "1/4", run_name=name, settings={"run_name": None})
    assert "name runs with --xling-run-name" in _refused(merge, "d.sqlite")
    assert (
        "shard 1 of 4 (run night.1of4 in a.sqlite) and shard 2 of 3 (run night.2of3 in b.sqlite) "
        "are not of the same number of shards" in _refused(merge, first, _store("b.sqlite", "2/3"))
    )


def test_a_run_in_progress(merge: Xling) -> None:
    """It is waited for; one that was killed, or met faults, is to go on."""
    first = _store("a.sqlite", "1/2")
    running = _store("b.sqlite", "2/2", status="running", owner=this_process())
    told = _refused(merge, first, running)
    assert "shard 2 of 2 (run night.2of2 in b.sqlite) is running: wait for its end" in told
    incomplete = _store("c.sqlite", "2/2", status="incomplete")
    told = _refused(merge, first, incomplete)
    assert "is incomplete: run it again with --xling-run-name=night" in told
    killed = _store("d.sqlite", "2/2", status="running", owner="elsewhere:1:2", seen_at=1.0)
    assert "is killed: run it again" in _refused(merge, first, killed)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"settings": {"model": "gpt-5"}}, "--xling-model was gpt-4o and is gpt-5"),
        ({"settings": {"seed": 7}}, "--xling-seed was 0 and is 7"),
        ({"settings": {"limits": "0a2b"}}, "its thresholds file says something else"),
        (
            {"versions": {"python": "3.11.9", "tiktoken": "0.9"}},
            "openai was 3.50.0 and is missing; tiktoken was missing and is 0.9",
        ),
        ({"scored_by": "2"}, "culture/emoji was emoji|v1 and is emoji|v2"),
    ],
    ids=["model", "settings", "thresholds", "versions", "metrics"],
)
def test_shards_of_different_runs(merge: Xling, changes: dict[str, Any], told: str) -> None:
    """It says which shard differs from the first, and in what."""
    stores = _store("a.sqlite", "1/2"), _store("b.sqlite", "2/2", **changes)
    expected = (
        "shard 2 of 2 (run night.2of2 in b.sqlite) is of another run than shard 1 of 2 (run "
        f"night.1of2 in a.sqlite): {told}\n"
    )
    assert expected in _refused(merge, *stores)


def test_which_run_is_meant(merge: Xling) -> None:
    """Where stores have shards of several runs, one is named; nobody's are whole runs."""
    night, day = _store("a.sqlite", "1/2"), _store("b.sqlite", "2/2", run_name="day")
    told = _refused(merge, night, day)
    assert "the stores have shards of several runs: day, night; name one with --run" in told
    assert "run day is not whole: no store named here has shard 1 of 2" in _refused(
        merge, night, day, "--run=day"
    )
    told = _refused(merge, night, day, "--run=noon")
    assert "no store has a shard of run 'noon'; they have shards of: day, night" in told
    with _written("c.sqlite") as connection:
        add_run(connection, replace(RUN, run_id="whole"))
    told = _refused(merge, night, "c.sqlite")
    assert "c.sqlite has no shard of a run, but its runs are whole: whole" in told
    assert "there is no store at d.sqlite, nor an export" in _refused(merge, night, "d.sqlite")


@pytest.mark.slow
def test_a_run_that_was_not_judged_is_made_anew(merge: Xling) -> None:
    """Of what its shards have now, not of what they had when it was merged first."""
    stores = _store("a.sqlite", "1/2"), _store("b.sqlite", "2/2")
    unjudged = ("merge", *stores, "--pytest", "--no-such-option")
    assert "run night: 2 shards, 0 answers" in merge(*unjudged).out
    with _written("b.sqlite") as connection:
        step = step_id(connection, kind="answer", name="openai", version="1", parameters={})
        case = CaseRow(
            case_id="q1-en",
            benchmark="culture",
            sample_id="q1",
            language="en",
            condition="",
            position=0,
            question="Why?",
            sample_metadata="{}",
            response_key=b"1",
            response_step=step,
            answer_key=b"2",
        )
        add_cases(connection, "night.2of2", [case])
    assert "run night: 2 shards, 1 answers" in merge(*unjudged).out


def test_where_data_lie_is_no_difference(merge: Xling) -> None:
    """Machines have projects in folders of their own; what the data say is in the cases' keys."""
    stores = [
        _store(f"{name}.sqlite", shard, settings={"data": {"culture": f"/{name}/data"}})
        for name, shard in (("a", "1/2"), ("b", "2/2"))
    ]
    assert "run night: 2 shards" in merge("merge", *stores, "--pytest", "--no-such-option").out


def test_a_damaged_store_is_named(merge: Xling) -> None:
    """The one that cannot be read, not the one that is written."""
    stores = _store("a.sqlite", "1/2"), _store("b.sqlite", "2/2")
    with _written("b.sqlite") as connection:
        connection.exec_driver_sql("DROP TABLE outputs")
    assert "store b.sqlite: no such table: outputs" in merge("merge", *stores).err


def test_no_shard_is_made_of_the_merged_run(merge: Xling) -> None:
    """Its exit code 0 would be taken for an open gate."""
    stores = _store("a.sqlite", "1/2"), _store("b.sqlite", "2/2")
    told = _refused(merge, *stores, "--pytest", "--langs=hi", "--xling-shard=1/2")
    assert "leave --xling-shard=1/2 out behind --pytest: all shards are judged together" in told


def test_exports_need_their_answers(merge: Xling, tmp_path: Path) -> None:
    """What was written without --texts, or is no export, is refused and says what to write."""
    second = _store("b.sqlite", "2/2")
    _store("a.sqlite", "1/2")
    stores = merge.on(tmp_path / "a.sqlite")
    assert 0 == stores("export", "night.1of2", "-o", "a.json").code
    told = _refused(merge, "a.json", second)
    assert "a.json lacks what makes a run (KeyError('steps')): write it anew" in told
    assert "xling export RUN --texts -o a.json" in told
    assert 0 == stores("export", "night.1of2", "--texts", "-o", "a.json", "--force").code
    written = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    for key, value in (
        ("scored_by", []),
        ("cost_usd", None),
        ("cost_usd", "much"),
        ("steps", [[]]),
    ):
        (tmp_path / "a.json").write_text(json.dumps({**written, key: value}), encoding="utf-8")
        assert "a.json lacks what makes a run (" in _refused(merge, "a.json", second)
    (tmp_path / "a.json").write_text(json.dumps({"format": 1}), encoding="utf-8")
    assert "a.json: run is no JSON object" in _refused(merge, "a.json", second)
