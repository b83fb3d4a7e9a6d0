"""The tables of the store."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    UniqueConstraint,
)

from pytest_xling.store.dialects import Words

metadata = MetaData()
Whole = BigInteger().with_variant(Integer(), "sqlite")
"""64 bits everywhere; a seed may take them all."""

steps = Table(
    "steps",
    metadata,
    Column("id", Whole, primary_key=True),
    Column("digest", LargeBinary, nullable=False, unique=True),
    Column("kind", Words, nullable=False),
    Column("name", Words, nullable=False),
    Column("version", Words, nullable=False),
    Column("parameters", Words, nullable=False),
)

# What was asked of paid or slow steps, in full, so that a key can be explained.
inputs = Table(
    "inputs",
    metadata,
    Column("key", LargeBinary, primary_key=True),
    Column("payload", Words, nullable=False),
    sqlite_with_rowid=False,
)

# Clustered by input, so that all scores of one answer lie side by side.
outputs = Table(
    "outputs",
    metadata,
    Column("input_key", LargeBinary, primary_key=True),
    Column("step", Whole, ForeignKey("steps.id"), primary_key=True),
    Column("output", Words, nullable=False),
    Column("cost_usd", Float, nullable=False),
    Column("created_at", Float, nullable=False),
    sqlite_with_rowid=False,
)

leases = Table(
    "leases",
    metadata,
    Column("input_key", LargeBinary, primary_key=True),
    Column("step", Whole, primary_key=True),
    Column("owner", Words, nullable=False),
    Column("expires_at", Float, nullable=False),
    Index("leases_by_owner", "owner"),
    sqlite_with_rowid=False,
)

runs = Table(
    "runs",
    metadata,
    Column("run_id", Words, primary_key=True),
    Column("model", Words, nullable=False),
    Column("created_at", Words, nullable=False),
    Column("finished_at", Words),
    Column("status", Words, nullable=False),
    Column("settings", Words, nullable=False),
    Column("versions", Words, nullable=False),
    Column("git", Words, nullable=False),
    Column("seed", Whole, nullable=False),
    # The process that makes it, and when anybody last heard of it: seconds since 1970.
    Column("owner", Words, nullable=False, server_default=""),
    Column("seen_at", Float, nullable=False, server_default="0"),
    # How long its sessions took, of those that came to an end.
    Column("seconds", Float),
    # How many cases there are by benchmark and language, whatever was selected of them.
    Column("whole", Words, nullable=False, server_default="{}"),
)

# The metrics a run was scored with: its scores are the outputs of these steps on its cases.
run_steps = Table(
    "run_steps",
    metadata,
    Column("run_id", Words, ForeignKey("runs.run_id"), primary_key=True),
    Column("benchmark", Words, primary_key=True),
    Column("step", Whole, ForeignKey("steps.id"), primary_key=True),
    sqlite_with_rowid=False,
)

cases = Table(
    "cases",
    metadata,
    Column("run_id", Words, ForeignKey("runs.run_id"), primary_key=True),
    Column("case_id", Words, primary_key=True),
    Column("benchmark", Words, primary_key=True),
    Column("sample_id", Words, nullable=False),
    Column("language", Words, nullable=False),
    Column("condition", Words, nullable=False),
    Column("position", Whole, nullable=False),
    Column("question", Words, nullable=False),
    Column("sample_metadata", Words, nullable=False),
    Column("response_key", LargeBinary, nullable=False),
    Column("response_step", Whole, ForeignKey("steps.id"), nullable=False),
    Column("answer_key", LargeBinary, nullable=False),
    # What samples share that are about one question; empty: the sample's id.
    Column("cluster", Words, nullable=False, server_default=""),
    # What a right answer says, where the data have one.
    Column("reference", Words),
    sqlite_with_rowid=False,
)

# Answers scored together, under the case of the first of them: their scores are outputs as well.
sets = Table(
    "sets",
    metadata,
    Column("run_id", Words, ForeignKey("runs.run_id"), primary_key=True),
    Column("benchmark", Words, primary_key=True),
    Column("case_id", Words, primary_key=True),
    Column("set_key", LargeBinary, primary_key=True),
    sqlite_with_rowid=False,
)

verdicts = Table(
    "verdicts",
    metadata,
    Column("run_id", Words, ForeignKey("runs.run_id"), primary_key=True),
    Column("benchmark", Words, primary_key=True),
    Column("gate", Words, primary_key=True),
    Column("verdict", Words, nullable=False),
    sqlite_with_rowid=False,
)

progress = Table(
    "progress",
    metadata,
    Column("run_id", Words, ForeignKey("runs.run_id"), primary_key=True),
    Column("worker", Words, primary_key=True),
    Column("total", Whole, nullable=False),
    Column("done", Whole, nullable=False),
    Column("errors", Whole, nullable=False),
    Column("cost_usd", Float, nullable=False),
    # The models that answer nothing just now, and for how long.
    Column("waiting", Words, nullable=False, server_default=""),
    sqlite_with_rowid=False,
)

# What cases met instead of an answer or a score, each text once.
faults = Table(
    "faults",
    metadata,
    Column("id", Whole, primary_key=True),
    Column("run_id", Words, ForeignKey("runs.run_id"), nullable=False),
    Column("text", Words, nullable=False),
    UniqueConstraint("run_id", "text"),
)

faulted = Table(
    "faulted",
    metadata,
    Column("run_id", Words, ForeignKey("runs.run_id"), primary_key=True),
    Column("benchmark", Words, primary_key=True),
    Column("case_id", Words, primary_key=True),
    Column("response_key", LargeBinary, nullable=False),
    # 1: because others had met the fault.
    Column("given_up", Whole, nullable=False),
    Column("fault", Whole, ForeignKey("faults.id"), nullable=False),
    sqlite_with_rowid=False,
)

# How well an annotator did on labelled answers: whatever run rests on it, by its signature.
calibrations = Table(
    "calibrations",
    metadata,
    Column("signature", Words, primary_key=True),
    Column("language", Words, primary_key=True),
    Column("source", Words, primary_key=True),
    Column("created_at", Words, nullable=False),
    Column("result", Words, nullable=False),
    sqlite_with_rowid=False,
)

# How a judge did on some of the answers it was measured on, asked again before a run's gates.
anchor_checks = Table(
    "anchor_checks",
    metadata,
    Column("run_id", Words, ForeignKey("runs.run_id"), primary_key=True),
    Column("signature", Words, primary_key=True),
    Column("language", Words, primary_key=True),
    Column("aspect", Words, primary_key=True),
    Column("created_at", Words, nullable=False),
    Column("result", Words, nullable=False),
    sqlite_with_rowid=False,
)

# What people say a metric should have said of a run's answers: most of those who labelled one.
human_labels = Table(
    "human_labels",
    metadata,
    Column("run_id", Words, ForeignKey("runs.run_id"), primary_key=True),
    Column("benchmark", Words, primary_key=True),
    Column("metric", Words, primary_key=True),
    Column("case_id", Words, primary_key=True),
    # What the judge said, by which answers were drawn.
    Column("said", Words, nullable=False),
    # NULL: nobody labelled it, ...
    Column("value", Float),
    # ... or 1: people were asked and could not tell, or are divided.
    Column("cannot_tell", Whole, nullable=False, server_default="0"),
    # Whether all who labelled it agree; NULL: fewer than two did.
    Column("raters_agree", Whole),
    sqlite_with_rowid=False,
)

# What translation alone does to a metric, by the metric's signature and the translator's.
translation_noise = Table(
    "translation_noise",
    metadata,
    Column("signature", Words, primary_key=True),
    Column("translator", Words, primary_key=True),
    Column("language", Words, primary_key=True),
    Column("source", Words, primary_key=True),
    Column("created_at", Words, nullable=False),
    Column("result", Words, nullable=False),
    sqlite_with_rowid=False,
)

# The run that later ones of a model are compared with; only `xling promote` moves it.
baselines = Table(
    "baselines",
    metadata,
    Column("model", Words, primary_key=True),
    Column("benchmark", Words, primary_key=True),
    Column("run_id", Words, ForeignKey("runs.run_id"), nullable=False),
    Column("promoted_at", Words, nullable=False),
    sqlite_with_rowid=False,
)

# Files of requests that a service was given to answer in its own time (`batch:` models).
batches = Table(
    "batches",
    metadata,
    Column("id", Whole, primary_key=True),
    Column("model", Words, nullable=False),
    # Its address.
    Column("service", Words, nullable=False),
    # The service's id of the requests' file, by which a batch is found that was begun, and whose
    # own id was never learnt.
    Column("file", Words, nullable=False),
    # The service's id of the batch; NULL: not known to have been begun.
    Column("batch", Words),
    Column("created_at", Float, nullable=False),
    # As last heard.
    Column("status", Words, nullable=False),
    Column("completed", Whole, nullable=False),
    Column("failed", Whole, nullable=False),
    Column("total", Whole, nullable=False),
)

# The requests of batches whose answers have not been stored.
batched = Table(
    "batched",
    metadata,
    Column("input_key", LargeBinary, primary_key=True),
    Column("batch", Whole, ForeignKey("batches.id"), nullable=False),
    # The optional params that were not sent, as JSON.
    Column("left_out", Words, nullable=False),
    Index("batched_by_batch", "batch"),
    sqlite_with_rowid=False,
)
