"""The tables of the store."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

__all__ = [
    "anchor_checks",
    "baselines",
    "batched",
    "batches",
    "calibrations",
    "cases",
    "faulted",
    "faults",
    "inputs",
    "leases",
    "metadata",
    "outputs",
    "progress",
    "run_steps",
    "runs",
    "sets",
    "steps",
    "translation_noise",
    "verdicts",
]

metadata = MetaData()

steps = Table(
    "steps",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("digest", LargeBinary, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("parameters", Text, nullable=False),
)

# What was asked of paid or slow steps, in full, so that a key can be explained.
inputs = Table(
    "inputs",
    metadata,
    Column("key", LargeBinary, primary_key=True),
    Column("payload", Text, nullable=False),
    sqlite_with_rowid=False,
)

# Clustered by input, so that all scores of one answer lie side by side.
outputs = Table(
    "outputs",
    metadata,
    Column("input_key", LargeBinary, primary_key=True),
    Column("step", Integer, ForeignKey("steps.id"), primary_key=True),
    Column("output", Text, nullable=False),
    Column("cost_usd", Float, nullable=False),
    Column("created_at", Float, nullable=False),
    sqlite_with_rowid=False,
)

leases = Table(
    "leases",
    metadata,
    Column("input_key", LargeBinary, primary_key=True),
    Column("step", Integer, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("expires_at", Float, nullable=False),
    Index("leases_by_owner", "owner"),
    sqlite_with_rowid=False,
)

runs = Table(
    "runs",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("model", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("finished_at", Text),
    Column("status", Text, nullable=False),
    Column("settings", Text, nullable=False),
    Column("versions", Text, nullable=False),
    Column("git", Text, nullable=False),
    Column("seed", Integer, nullable=False),
    # The process that makes it, and when anybody last heard of it: seconds since 1970.
    Column("owner", Text, nullable=False, server_default=""),
    Column("seen_at", Float, nullable=False, server_default="0"),
    # How long its sessions took, of those that came to an end.
    Column("seconds", Float),
    # How many cases there are by benchmark and language, whatever was selected of them.
    Column("whole", Text, nullable=False, server_default="{}"),
)

# The metrics a run was scored with: its scores are the outputs of these steps on its cases.
run_steps = Table(
    "run_steps",
    metadata,
    Column("run_id", Text, ForeignKey("runs.run_id"), primary_key=True),
    Column("benchmark", Text, primary_key=True),
    Column("step", Integer, ForeignKey("steps.id"), primary_key=True),
    sqlite_with_rowid=False,
)

cases = Table(
    "cases",
    metadata,
    Column("run_id", Text, ForeignKey("runs.run_id"), primary_key=True),
    Column("case_id", Text, primary_key=True),
    Column("benchmark", Text, primary_key=True),
    Column("sample_id", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("condition", Text, nullable=False),
    Column("position", Integer, nullable=False),
    Column("question", Text, nullable=False),
    Column("sample_metadata", Text, nullable=False),
    Column("response_key", LargeBinary, nullable=False),
    Column("response_step", Integer, ForeignKey("steps.id"), nullable=False),
    Column("answer_key", LargeBinary, nullable=False),
    # What samples share that are about one question; empty: the sample's id.
    Column("cluster", Text, nullable=False, server_default=""),
    # What a right answer says, where the data have one.
    Column("reference", Text),
    sqlite_with_rowid=False,
)

# Answers scored together, under the case of the first of them: their scores are outputs as well.
sets = Table(
    "sets",
    metadata,
    Column("run_id", Text, ForeignKey("runs.run_id"), primary_key=True),
    Column("benchmark", Text, primary_key=True),
    Column("case_id", Text, primary_key=True),
    Column("set_key", LargeBinary, primary_key=True),
    sqlite_with_rowid=False,
)

verdicts = Table(
    "verdicts",
    metadata,
    Column("run_id", Text, ForeignKey("runs.run_id"), primary_key=True),
    Column("benchmark", Text, primary_key=True),
    Column("gate", Text, primary_key=True),
    Column("verdict", Text, nullable=False),
    sqlite_with_rowid=False,
)

progress = Table(
    "progress",
    metadata,
    Column("run_id", Text, ForeignKey("runs.run_id"), primary_key=True),
    Column("worker", Text, primary_key=True),
    Column("total", Integer, nullable=False),
    Column("done", Integer, nullable=False),
    Column("errors", Integer, nullable=False),
    Column("cost_usd", Float, nullable=False),
    # The models that answer nothing just now, and for how long.
    Column("waiting", Text, nullable=False, server_default=""),
    sqlite_with_rowid=False,
)

# What cases met instead of an answer or a score, each text once.
faults = Table(
    "faults",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("run_id", Text, ForeignKey("runs.run_id"), nullable=False),
    Column("text", Text, nullable=False),
    UniqueConstraint("run_id", "text"),
)

faulted = Table(
    "faulted",
    metadata,
    Column("run_id", Text, ForeignKey("runs.run_id"), primary_key=True),
    Column("benchmark", Text, primary_key=True),
    Column("case_id", Text, primary_key=True),
    Column("response_key", LargeBinary, nullable=False),
    # 1: because others had met the fault.
    Column("given_up", Integer, nullable=False),
    Column("fault", Integer, ForeignKey("faults.id"), nullable=False),
    sqlite_with_rowid=False,
)

# How well an annotator did on labelled answers: whatever run rests on it, by its signature.
calibrations = Table(
    "calibrations",
    metadata,
    Column("signature", Text, primary_key=True),
    Column("language", Text, primary_key=True),
    Column("source", Text, primary_key=True),
    Column("created_at", Text, nullable=False),
    Column("result", Text, nullable=False),
    sqlite_with_rowid=False,
)

# How a judge did on some of the answers it was measured on, asked again before a run's gates.
anchor_checks = Table(
    "anchor_checks",
    metadata,
    Column("run_id", Text, ForeignKey("runs.run_id"), primary_key=True),
    Column("signature", Text, primary_key=True),
    Column("language", Text, primary_key=True),
    Column("aspect", Text, primary_key=True),
    Column("created_at", Text, nullable=False),
    Column("result", Text, nullable=False),
    sqlite_with_rowid=False,
)

# What people say a metric should have said of a run's answers: most of those who labelled one.
human_labels = Table(
    "human_labels",
    metadata,
    Column("run_id", Text, ForeignKey("runs.run_id"), primary_key=True),
    Column("benchmark", Text, primary_key=True),
    Column("metric", Text, primary_key=True),
    Column("case_id", Text, primary_key=True),
    # What the judge said, by which answers were drawn.
    Column("said", Text, nullable=False),
    # NULL: nobody labelled it, ...
    Column("value", Float),
    # ... or 1: people were asked and could not tell, or are divided.
    Column("cannot_tell", Integer, nullable=False, server_default="0"),
    sqlite_with_rowid=False,
)

# What translation alone does to a metric, by the metric's signature and the translator's.
translation_noise = Table(
    "translation_noise",
    metadata,
    Column("signature", Text, primary_key=True),
    Column("translator", Text, primary_key=True),
    Column("language", Text, primary_key=True),
    Column("source", Text, primary_key=True),
    Column("created_at", Text, nullable=False),
    Column("result", Text, nullable=False),
    sqlite_with_rowid=False,
)

# The run that later ones of a model are compared with; only `xling promote` moves it.
baselines = Table(
    "baselines",
    metadata,
    Column("model", Text, primary_key=True),
    Column("benchmark", Text, primary_key=True),
    Column("run_id", Text, ForeignKey("runs.run_id"), nullable=False),
    Column("promoted_at", Text, nullable=False),
    sqlite_with_rowid=False,
)

# Files of requests that a service was given to answer in its own time (`batch:` models).
batches = Table(
    "batches",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("model", Text, nullable=False),
    # Its address.
    Column("service", Text, nullable=False),
    # The service's id of the requests' file, by which a batch is found that was begun, and whose
    # own id was never learnt.
    Column("file", Text, nullable=False),
    # The service's id of the batch; NULL: not known to have been begun.
    Column("batch", Text),
    Column("created_at", Float, nullable=False),
    # As last heard.
    Column("status", Text, nullable=False),
    Column("completed", Integer, nullable=False),
    Column("failed", Integer, nullable=False),
    Column("total", Integer, nullable=False),
)

# The requests of batches whose answers have not been stored.
batched = Table(
    "batched",
    metadata,
    Column("input_key", LargeBinary, primary_key=True),
    Column("batch", Integer, ForeignKey("batches.id"), nullable=False),
    # The optional params that were not sent, as JSON.
    Column("left_out", Text, nullable=False),
    Index("batched_by_batch", "batch"),
    sqlite_with_rowid=False,
)
