"""Bring a store's schema up to date, one numbered step at a time.

Each step is plain SQL that is never edited once released: it says what the schema *was*, while
``schema.py`` says what it is now. A test proves that the two agree, on both kinds of store.

Steps are written for SQLite, and translated word by word for PostgreSQL (``postgresql.py``). So new
steps run on both if they keep to CREATE TABLE and INDEX, ALTER TABLE and ADD COLUMN, UPDATE and
DELETE, with the types used here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_xling.errors import StoreError

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from pytest_xling.store.backend import Backend

MEMO = (
    """CREATE TABLE steps (
        id INTEGER NOT NULL PRIMARY KEY, digest BLOB NOT NULL UNIQUE, kind TEXT NOT NULL,
        name TEXT NOT NULL, version TEXT NOT NULL, parameters TEXT NOT NULL)""",
    """CREATE TABLE inputs (key BLOB NOT NULL PRIMARY KEY, payload TEXT NOT NULL) WITHOUT ROWID""",
    """CREATE TABLE outputs (
        input_key BLOB NOT NULL, step INTEGER NOT NULL REFERENCES steps (id),
        output TEXT NOT NULL, cost_usd FLOAT NOT NULL, created_at FLOAT NOT NULL,
        PRIMARY KEY (input_key, step)) WITHOUT ROWID""",
    """CREATE TABLE leases (
        input_key BLOB NOT NULL, step INTEGER NOT NULL, owner TEXT NOT NULL,
        expires_at FLOAT NOT NULL, PRIMARY KEY (input_key, step)) WITHOUT ROWID""",
    """CREATE INDEX leases_by_owner ON leases (owner)""",
)

RUNS = (
    """CREATE TABLE runs (
        run_id TEXT NOT NULL PRIMARY KEY, model TEXT NOT NULL, created_at TEXT NOT NULL,
        finished_at TEXT, status TEXT NOT NULL, settings TEXT NOT NULL, versions TEXT NOT NULL,
        git TEXT NOT NULL, seed INTEGER NOT NULL)""",
    """CREATE TABLE run_steps (
        run_id TEXT NOT NULL REFERENCES runs (run_id), benchmark TEXT NOT NULL,
        step INTEGER NOT NULL REFERENCES steps (id),
        PRIMARY KEY (run_id, benchmark, step)) WITHOUT ROWID""",
    """CREATE TABLE cases (
        run_id TEXT NOT NULL REFERENCES runs (run_id), case_id TEXT NOT NULL,
        benchmark TEXT NOT NULL, sample_id TEXT NOT NULL, language TEXT NOT NULL,
        condition TEXT NOT NULL, position INTEGER NOT NULL, question TEXT NOT NULL,
        sample_metadata TEXT NOT NULL, response_key BLOB NOT NULL,
        response_step INTEGER NOT NULL REFERENCES steps (id), answer_key BLOB NOT NULL,
        PRIMARY KEY (run_id, case_id, benchmark)) WITHOUT ROWID""",
    """CREATE TABLE verdicts (
        run_id TEXT NOT NULL REFERENCES runs (run_id), benchmark TEXT NOT NULL,
        gate TEXT NOT NULL, verdict TEXT NOT NULL,
        PRIMARY KEY (run_id, benchmark, gate)) WITHOUT ROWID""",
    """CREATE TABLE progress (
        run_id TEXT NOT NULL REFERENCES runs (run_id), worker TEXT NOT NULL,
        total INTEGER NOT NULL, done INTEGER NOT NULL, errors INTEGER NOT NULL,
        cost_usd FLOAT NOT NULL, PRIMARY KEY (run_id, worker)) WITHOUT ROWID""",
)

SETS = (
    """CREATE TABLE sets (
        run_id TEXT NOT NULL REFERENCES runs (run_id), benchmark TEXT NOT NULL,
        case_id TEXT NOT NULL, set_key BLOB NOT NULL,
        PRIMARY KEY (run_id, benchmark, case_id, set_key)) WITHOUT ROWID""",
    """ALTER TABLE cases ADD COLUMN cluster TEXT NOT NULL DEFAULT ''""",
)

CALIBRATIONS = (
    """CREATE TABLE calibrations (
        signature TEXT NOT NULL, language TEXT NOT NULL, source TEXT NOT NULL,
        created_at TEXT NOT NULL, result TEXT NOT NULL,
        PRIMARY KEY (signature, language, source)) WITHOUT ROWID""",
)

BASELINES = (
    """CREATE TABLE baselines (
        model TEXT NOT NULL, benchmark TEXT NOT NULL,
        run_id TEXT NOT NULL REFERENCES runs (run_id), promoted_at TEXT NOT NULL,
        PRIMARY KEY (model, benchmark)) WITHOUT ROWID""",
    """ALTER TABLE cases ADD COLUMN reference TEXT""",
)

FAULTS = (
    """CREATE TABLE faults (
        id INTEGER NOT NULL PRIMARY KEY, run_id TEXT NOT NULL REFERENCES runs (run_id),
        text TEXT NOT NULL, UNIQUE (run_id, text))""",
    """CREATE TABLE faulted (
        run_id TEXT NOT NULL REFERENCES runs (run_id), benchmark TEXT NOT NULL,
        case_id TEXT NOT NULL, response_key BLOB NOT NULL, given_up INTEGER NOT NULL,
        fault INTEGER NOT NULL REFERENCES faults (id),
        PRIMARY KEY (run_id, benchmark, case_id)) WITHOUT ROWID""",
    """ALTER TABLE progress ADD COLUMN waiting TEXT NOT NULL DEFAULT ''""",
)

PROCESSES = (
    """ALTER TABLE runs ADD COLUMN owner TEXT NOT NULL DEFAULT ''""",
    """ALTER TABLE runs ADD COLUMN seen_at FLOAT NOT NULL DEFAULT 0""",
    """ALTER TABLE runs ADD COLUMN seconds FLOAT""",
    """ALTER TABLE runs ADD COLUMN whole TEXT NOT NULL DEFAULT '{}'""",
)

TRANSLATION_NOISE = (
    """CREATE TABLE translation_noise (
        signature TEXT NOT NULL, translator TEXT NOT NULL, language TEXT NOT NULL,
        source TEXT NOT NULL, created_at TEXT NOT NULL, result TEXT NOT NULL,
        PRIMARY KEY (signature, translator, language, source)) WITHOUT ROWID""",
)

HUMAN_LABELS = (
    """CREATE TABLE human_labels (
        run_id TEXT NOT NULL REFERENCES runs (run_id), benchmark TEXT NOT NULL,
        metric TEXT NOT NULL, case_id TEXT NOT NULL, said TEXT NOT NULL, value FLOAT,
        PRIMARY KEY (run_id, benchmark, metric, case_id)) WITHOUT ROWID""",
)

ANCHOR_CHECKS = (
    """CREATE TABLE anchor_checks (
        run_id TEXT NOT NULL REFERENCES runs (run_id), signature TEXT NOT NULL,
        language TEXT NOT NULL, aspect TEXT NOT NULL, created_at TEXT NOT NULL,
        result TEXT NOT NULL,
        PRIMARY KEY (run_id, signature, language, aspect)) WITHOUT ROWID""",
)

CANNOT_TELL = ("""ALTER TABLE human_labels ADD COLUMN cannot_tell INTEGER NOT NULL DEFAULT 0""",)

RATERS_AGREE = ("""ALTER TABLE human_labels ADD COLUMN raters_agree INTEGER""",)

BATCHES = (
    """CREATE TABLE batches (
        id INTEGER NOT NULL PRIMARY KEY, model TEXT NOT NULL, service TEXT NOT NULL,
        file TEXT NOT NULL, batch TEXT, created_at FLOAT NOT NULL, status TEXT NOT NULL,
        completed INTEGER NOT NULL, failed INTEGER NOT NULL, total INTEGER NOT NULL)""",
    """CREATE TABLE batched (
        input_key BLOB NOT NULL PRIMARY KEY, batch INTEGER NOT NULL REFERENCES batches (id),
        left_out TEXT NOT NULL) WITHOUT ROWID""",
    """CREATE INDEX batched_by_batch ON batched (batch)""",
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    MEMO,
    RUNS,
    SETS,
    CALIBRATIONS,
    BASELINES,
    FAULTS,
    PROCESSES,
    TRANSLATION_NOISE,
    HUMAN_LABELS,
    ANCHOR_CHECKS,
    CANNOT_TELL,
    BATCHES,
    RATERS_AGREE,
)
"""``MIGRATIONS[i]`` takes a store from version i to version i + 1."""

LATEST = len(MIGRATIONS)


def migrate(connection: Connection, store: Backend) -> None:
    """Bring the store behind *connection* to the latest schema, inside the caller's transaction.

    Raises:
        StoreError: the store was written by a newer version, or is not one of ours.
    """
    version = store.version(connection)
    if version > LATEST:
        msg = (
            f"store {store} has schema {version}, and this pytest-xling knows up to {LATEST}: "
            "it was written by a newer version. Upgrade pytest-xling, or name another store "
            "with --xling-store"
        )
        raise StoreError(msg)
    if version == LATEST:
        return  # another process has migrated it
    if version == 0 and (foreign := store.foreign_tables(connection)):
        raise StoreError(foreign)
    for number in range(version, LATEST):
        for statement in MIGRATIONS[number]:
            connection.exec_driver_sql(store.translated(statement))
    store.set_version(connection, LATEST)
