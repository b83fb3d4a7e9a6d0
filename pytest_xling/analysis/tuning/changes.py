"""Where in a thresholds file proposed limits belong."""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pytest_xling.config.thresholds_edit import with_limits
from pytest_xling.errors import ConfigError
from pytest_xling.languages import find
from pytest_xling.planning.thresholds import read_thresholds
from pytest_xling.text.stance import LEVELS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_xling.analysis.tuning import BenchmarkTuned, Proposal
    from pytest_xling.config.thresholds import ThresholdFile

Place: TypeAlias = tuple[str, ...]


def changes(
    tuned: Sequence[BenchmarkTuned], file: ThresholdFile | None, model: str
) -> dict[Place, float]:
    """Return what has to be written at which key paths; nothing that is there already.

    A metric's own entry holds for all languages but those whose limit is another. What a file says
    of a model, or already says of a language, is changed there. A language that nothing is proposed
    for keeps its limit, or has none as before: one that the runs do not have, too, so that what
    holds for all is changed only by runs that are known to have all.

    Args:
        tuned: what is proposed.
        file: the thresholds there are.
        model: what they are resolved for.
    """
    groups: defaultdict[tuple[Place, str], list[Proposal]] = defaultdict(list)
    with_all = {benchmark.benchmark for benchmark in tuned if benchmark.all_languages}
    for benchmark in tuned:
        for proposal in benchmark.proposals:
            level = proposal.limit.spec.threshold.level
            nested = () if level is None else ("levels", LEVELS[level])
            place = ("benchmarks", benchmark.benchmark, proposal.limit.spec.metric, *nested)
            groups[place, proposal.limit.key].append(proposal)
    limits: dict[Place, float] = {}
    for place in dict.fromkeys(place for place, _ in groups):
        of_place = {
            key: proposals for (own_place, key), proposals in groups.items() if own_place == place
        }
        written = _metric_limits(place, of_place, file, model, all_languages=place[1] in with_all)
        floor, ceiling = (
            written.get((*place, key), _get(file, (*place, key))) for key in ("floor", "ceiling")
        )
        if isinstance(floor, int | float) and isinstance(ceiling, int | float) and floor > ceiling:
            # What most languages share of one is not what most share of the other.
            written = _metric_limits(place, of_place, file, model, all_languages=False)
        limits |= written
    return limits


def _metric_limits(
    parent: Place,
    by_key: Mapping[str, Sequence[Proposal]],
    file: ThresholdFile | None,
    model: str,
    *,
    all_languages: bool,
) -> dict[Place, float]:
    """Return what has to be written of one metric, perhaps at one level."""
    limits: dict[Place, float] = {}
    for key, proposals in by_key.items():
        if any(proposal.proposed is not None for proposal in proposals):
            limits |= _limits_of_key(
                parent, key, proposals, file, model, all_languages=all_languages
            )
    return limits


def _limits_of_key(
    parent: Place,
    key: str,
    proposals: Sequence[Proposal],
    file: ThresholdFile | None,
    model: str,
    *,
    all_languages: bool,
) -> dict[Place, float]:
    """Return what has to be written of one limit of one metric."""
    loosest = max if proposals[0].limit.upward else min
    written = {p.limit.spec.language: _written(p, file, model) for p in proposals}
    shared: defaultdict[Place, list[float]] = defaultdict(list)
    own: dict[str, float] = {}
    limits: dict[Place, float] = {}
    for proposal in proposals:
        value, language = proposal.proposed, proposal.limit.spec.language
        if value is None:
            continue
        place = written[language] or (*parent, key)
        if place[-3] == "languages" or (all_languages and place != (*parent, key)):
            shared[place].append(value)  # of the language, or of a model
        elif all_languages:
            own[language] = value
        elif value != proposal.limit.now:
            limits[_language_place(place, language, file)] = value
    limits |= {place: loosest(values) for place, values in shared.items()}
    if own:
        counts = Counter(own.values())
        most = max(counts.values())
        base = loosest(value for value, many in counts.items() if many == most)
        left_without = any(p.proposed is None and p.limit.now is None for p in proposals)
        if not left_without:
            limits[*parent, key] = base
        for language, value in own.items():
            if left_without or value != base:
                limits[_language_place((*parent, key), language, file)] = value
    limits |= _protected(limits, proposals, written, file)
    return {place: value for place, value in limits.items() if _get(file, place) != value}


def _protected(
    limits: dict[Place, float],
    proposals: Sequence[Proposal],
    written: dict[str, Place | None],
    file: ThresholdFile | None,
) -> dict[Place, float]:
    """Return the limits of languages that are left as they are, where another's would move them."""
    protected: dict[Place, float] = {}
    for proposal in proposals:
        now, language = proposal.limit.now, proposal.limit.spec.language
        place = written[language]
        if proposal.proposed is not None or now is None or place is None:
            continue
        if limits.get(place, now) != now:
            protected[_language_place(place, language, file)] = now
    return protected


def _written(proposal: Proposal, file: ThresholdFile | None, model: str) -> Place | None:
    """Return the key path the limit is read from now."""
    if file is None or proposal.limit.now is None:
        return None
    threshold = proposal.limit.spec.threshold
    entry = file.benchmarks[threshold.benchmark][threshold.metric]
    return entry.resolve(threshold.language, model, level=threshold.level).places.get(
        proposal.limit.key
    )


def _language_place(place: Place, language: str, file: ThresholdFile | None) -> Place:
    """Return where a language's own limit belongs beside the one for all at *place*."""
    *parent, key = place
    return (*parent, "languages", _name_in_file(file, tuple(parent), language), key)


def _name_in_file(file: ThresholdFile | None, parent: Place, language: str) -> str:
    """Return what a language is called in the file; its code where it is not there yet."""
    languages = None if file is None else file.file.get(*parent, "languages")
    for name in languages if isinstance(languages, dict) else ():
        try:
            if find(name).code == language:
                return name
        except ConfigError:  # the file was checked; whoever changed it meanwhile is told later
            continue
    return language


def _get(file: ThresholdFile | None, place: Place) -> object:
    return None if file is None else file.file.get(*place)


def proposed_text(
    before: str, tuned: Sequence[BenchmarkTuned], file: ThresholdFile | None, model: str
) -> str:
    """Return the text of a thresholds file with what is proposed.

    Args:
        before: its text; "" where there is none.
        tuned: what is proposed.
        file: the same text, read.
        model: what its limits are resolved for.

    Raises:
        ConfigError: what would come of it contradicts itself.
    """
    after = with_limits(before, changes(tuned, file, model))
    benchmarks = {proposal.benchmark for proposal in tuned}
    elsewhere = set() if file is None else file.benchmarks.keys() - benchmarks
    with tempfile.TemporaryDirectory(prefix="xling-") as folder:
        path = Path(folder) / (Path(file.file.name).name if file else "thresholds.yaml")
        if after:
            path.write_text(after, encoding="utf-8")
            try:
                read_thresholds(path, benchmarks=benchmarks | elsewhere, elsewhere=elsewhere)
            except ConfigError as error:
                what = str(error).replace(str(path), f"{path.name} (proposed)")
                msg = f"a proposal contradicts what else the file says, nothing is written: {what}"
                raise ConfigError(msg) from error
    return after
