"""Turn what pytest was told into settings, benchmarks and a provider, all checked."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_xling.config.options import refuse_gone_keys, refuse_unknown_variables, sources_of
from pytest_xling.config.settings import Settings, settle
from pytest_xling.engine.limits import patience_for
from pytest_xling.engine.models import (
    check_provider,
    check_role,
    check_translates,
    make_provider,
    make_roles,
)
from pytest_xling.engine.steps import make_step_factory
from pytest_xling.errors import ConfigError
from pytest_xling.interfaces.provider import Stored
from pytest_xling.languages import find
from pytest_xling.planning.benchmark import (
    benchmark_name,
    bundled,
    check_data_names,
    discover,
    open_benchmark,
)
from pytest_xling.planning.checks import declare_checks
from pytest_xling.planning.own_languages import declare_languages
from pytest_xling.planning.parallel import pairing
from pytest_xling.planning.plan import check_chats, make_request, plan, turns_asked
from pytest_xling.planning.shards import Shard
from pytest_xling.planning.thresholds import read_thresholds
from pytest_xling.plugin.declared import describe_defined
from pytest_xling.plugin.oddities import (
    compared_with_stored,
    further_up,
    limits_elsewhere,
    refuse_limits_elsewhere,
    refuse_missing_languages,
)
from pytest_xling.plugin.places import choose_benchmarks, given_paths
from pytest_xling.records import ENGLISH

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    import pytest
    from sqlalchemy import Connection

    from pytest_xling.analysis.baseline import Baseline
    from pytest_xling.analysis.comparison import Comparison
    from pytest_xling.config.thresholds import ThresholdFile
    from pytest_xling.engine.steps import StepFactory
    from pytest_xling.interfaces.annotator import Role
    from pytest_xling.interfaces.provider import Provider
    from pytest_xling.planning.benchmark import Benchmark
    from pytest_xling.planning.plan import Case
    from pytest_xling.records import Request, Response, Turn
    from pytest_xling.store.database import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """A run about to be made: everything is known and checked, nothing has been asked."""

    settings: Settings
    thresholds: ThresholdFile | None
    provider: Provider
    model: str
    """The model's name as thresholds.yaml and reports know it."""
    roles: Mapping[Role, Sequence[Provider]]
    """Who judges, translates and searches. The model under test judges itself unless told
    otherwise, as in XLingEval; nobody translates or searches unless told to."""
    factory: StepFactory
    """What metrics and annotators are made with."""
    benchmarks: Mapping[Path, Benchmark]
    """By folder."""
    plans: Mapping[Path, list[Case]]
    """By folder: its cases in order."""
    pivots: Mapping[str, str]
    """By benchmark the language others are compared with, where there is one."""
    request: Callable[[Case, Benchmark], Request]
    """Gives the first request of a case of a benchmark."""
    baseline: Baseline | None = None
    """What the run is compared with."""
    taken: str = ""
    """Where the benchmarks were looked for, where nobody named a path."""
    left_out: int = 0
    """Cases that a transcript says nobody asked."""
    oddities: Sequence[str] = ()
    """What is allowed and may not be meant, a line each."""

    @property
    def shard(self) -> Shard | None:
        """The part of the run that is made here; None where all of it is."""
        text = self.settings.shard
        return None if text is None else Shard.read(text)

    def check_role(self, role: Role, metric: str, *, folder: Path) -> None:
        """Check that somebody has *role* who can do what *metric* needs in a benchmark.

        Raises:
            ConfigError: nobody has, or only who cannot; the translator lacks a language.
        """
        check_role(self.roles, role, metric)
        if role == "translator":
            spoken = {case.sample.language for case in self.plans.get(folder, ())}
            check_translates(
                self.roles[role][0], [(code, ENGLISH) for code in sorted(spoken - {ENGLISH})]
            )

    def benchmark_languages(self) -> dict[str, list[str]]:
        """Return by benchmark all languages it has, whichever are asked."""
        return {b.name: list(b.languages()) for b in self.benchmarks.values()}

    def requests(
        self, known: Callable[[Request], Response | None] | None = None
    ) -> Iterator[tuple[Case, bytes, Request]]:
        """Yield each case with its request and the key its answer is kept under.

        Of a conversation that is the last request, as far as its replies are *known*. In a shard
        its own cases only.
        """
        from pytest_xling.engine.answering import request_key  # noqa: PLC0415  when something runs
        from pytest_xling.engine.conversation import known_end  # noqa: PLC0415  likewise

        for case, request, turns in self.asked():
            # A single question has no replies to look up.
            last = known_end(request, turns, known)[0] if turns and known else request
            yield case, request_key(self.provider, last), last

    def asked(self) -> Iterator[tuple[Case, Request, tuple[Turn, ...]]]:
        """Yield each case with its first request and the turns after it, in a shard its own."""
        shard = self.shard
        for folder, benchmark in self.benchmarks.items():
            for case in self.plans[folder]:
                if shard is not None and not shard.has(case):
                    continue
                yield case, self.request(case, benchmark), turns_asked(case, self.provider)

    def replies(
        self, connection: Connection, *, since: float
    ) -> Callable[[Request], Response | None]:
        """Return what gives the reply to a request that a store has had since *since*, if any."""
        from pytest_xling.engine.answering import (  # noqa: PLC0415  when something runs
            decode_response,
            request_key,
        )
        from pytest_xling.store.outputs import newest  # noqa: PLC0415  imports the store

        def known(request: Request) -> Response | None:
            key = request_key(self.provider, request)
            text = newest(connection, [key], since=since).get(key)
            return None if text is None else decode_response(json.loads(text))

        return known

    def stored_answers(self, database: Database, *, since: float) -> tuple[list[float], int]:
        """Return when the answers that the store has were made, and how many there are to be.

        What was made before *since*, in seconds since 1970, does not count.
        """
        from pytest_xling.store.outputs import made_at  # noqa: PLC0415  imports the store

        with database.read() as connection:
            known = self.replies(connection, since=since)
            keys = {key for _, key, _ in self.requests(known)}
            return list(made_at(connection, keys, since=since).values()), len(keys)

    def whole(self) -> dict[str, dict[str, int]]:
        """Return by benchmark and language how many cases there are, whatever the limit is."""
        unlimited = self.settings.replaced(limit=None)
        counts: dict[str, dict[str, int]] = {}
        for folder, benchmark in self.benchmarks.items():
            limited = self.settings.limit is not None
            cases = plan(benchmark, unlimited) if limited else self.plans[folder]
            counts[benchmark.name] = dict(Counter(case.sample.language for case in cases))
        return counts

    def compared(self, connection: Connection, run_id: str) -> Comparison | None:
        """Compare a run of this setup with the baseline; None where none is named."""
        if self.baseline is None:
            return None
        from pytest_xling.analysis.comparison import compare  # noqa: PLC0415  imports the store
        from pytest_xling.store.runs import get_run  # noqa: PLC0415  likewise

        run = get_run(connection, run_id)
        return compare(connection, run, self.baseline, pivots=self.pivots.get)

    def patience(self) -> str:
        """Say how long a model may answer nothing; "" where none is far away."""
        others = chain.from_iterable(self.roles.values())
        far = [provider for provider in (self.provider, *others) if provider.paid]
        patience = f"{patience_for(self.settings.timeout_s):g} s of patience"
        return f"{patience} with a model that answers nothing (--xling-timeout)" if far else ""

    def notices(self) -> list[str]:
        """Return what the user should know of the data, a line each."""
        notices: dict[str, None] = {self.taken: None} if self.taken else {}
        for folder, benchmark in self.benchmarks.items():
            languages = sorted({case.sample.language for case in self.plans[folder]})
            if line := pairing(benchmark, self.plans[folder]):
                notices[line] = None
            notices |= dict.fromkeys(benchmark.notices(languages))
        if self.left_out:
            total = self.left_out + sum(map(len, self.plans.values()))
            left_out = (
                f"{self.left_out:,} of {total:,} cases left out: the transcript says nobody asked"
            )
            notices[left_out] = None
        if self.baseline is not None:
            notices |= dict.fromkeys(
                (f"baseline {self.baseline.description}", *self.baseline.notices)
            )
        return [*notices, *self.warnings()]

    def warnings(self) -> list[str]:
        """Return what is allowed and may not be meant, a line each; told at the end, too."""
        file = self.thresholds
        drops = file is not None and any(
            file.limits(benchmark.name, metric, "max_drop")
            for benchmark in self.benchmarks.values()
            for metric in file.metrics(benchmark.name)
        )
        unjudged = "drops (max_drop) are not judged: no --baseline is named"
        return [unjudged, *self.oddities] if drops and self.baseline is None else [*self.oddities]


def read_setup(config: pytest.Config) -> Setup:
    """Read and check all that this session was told.

    Raises:
        ConfigError: names the place of the mistake and the fix.
    """
    root = config.rootpath
    sources = replace(sources_of(config), language_code=language_code)
    taken = choose_benchmarks(config)
    folders = discover(given_paths(config))
    _check_names(folders)
    if not folders:
        where = ", ".join(config.args) or str(root)
        msg = (
            f"a model is named but no benchmark (a folder with a prompts.yaml) lies in {where}; "
            "name its folder, make one with `xling init`, or run one that comes along: "
            f"--xling-benchmarks={','.join(bundled())}"
        )
        raise ConfigError(msg)
    thresholds, limited = None, list[Path]()
    path = sources.value(Settings.thresholds)
    if path is not None:
        limited = sorted({*folders, *discover([root, path.parent])})
    else:
        here, ours = config.invocation_params.dir.resolve(), set(bundled().values())
        own = [each for each in folders if each not in ours or each.is_relative_to(here)]
        refuse_limits_elsewhere(root, own, unread=here if config.option.inifilename else None)
    others = [folder for folder in limited if folder not in folders]
    declare_languages([*others, *folders])
    declare_checks([*others, *folders])
    describe_defined([*others, *folders], root=root)
    if path is not None:
        known = {benchmark_name(folder) for folder in limited}
        thresholds = read_thresholds(path, benchmarks=known)
    refuse_unknown_variables(os.environ)
    refuse_gone_keys(config.getini)
    settings = settle(sources)
    provider = make_provider(settings)
    check_provider(provider)
    roles = make_roles(settings, provider)
    check_data_names(settings.data, folders)
    stored = provider if isinstance(provider, Stored) else None
    everywhere = sources.given(Settings.languages) is not None
    only = None if stored is None or everywhere else frozenset(stored.answered)
    benchmarks = {
        folder: open_benchmark(folder, data=settings.data, answered=only) for folder in folders
    }
    # A transcript may cover a part of the questions, and say so.
    unasked: Collection[tuple[str, str, int]] = getattr(provider, "left_out", ())
    plans = {folder: plan(benchmark, settings) for folder, benchmark in benchmarks.items()}
    asked = {
        folder: [
            c for c in cases if (c.sample.id, c.sample.language, c.condition.repeat) not in unasked
        ]
        for folder, cases in plans.items()
    }
    for folder, benchmark in benchmarks.items():
        check_chats(benchmark, asked[folder], provider)
    model, baseline = _model_name(settings, provider), _baseline(settings)
    if not settings.partial:
        refuse_missing_languages(benchmarks, asked, thresholds=thresholds, baseline=baseline)
    oddities = [*further_up(settings, root)]
    if thresholds is not None:
        oddities += limits_elsewhere(thresholds, benchmarks, asked, model)
    if stored is not None:
        oddities += compared_with_stored(stored, benchmarks, asked, settings)
    return Setup(
        settings=settings,
        thresholds=thresholds,
        provider=provider,
        model=model,
        roles=roles,
        factory=make_step_factory(settings),
        benchmarks=benchmarks,
        plans=asked,
        pivots={b.name: pivot for b in benchmarks.values() if (pivot := b.prompts.design.pivot)},
        request=partial(make_request, settings=settings, provider=provider, model=model),
        baseline=baseline,
        taken=taken,
        left_out=sum(len(cases) - len(asked[folder]) for folder, cases in plans.items()),
        oddities=oddities,
    )


def _baseline(settings: Settings) -> Baseline | None:
    """Open what the run is to be compared with."""
    if settings.baseline is None:
        return None
    from pytest_xling.analysis.baseline import open_baseline  # noqa: PLC0415  imports the store

    return open_baseline(settings.baseline, store=settings.store)


def _check_names(folders: Sequence[Path]) -> None:
    """Refuse two benchmarks of one name: thresholds, store and reports know them by it."""
    named: dict[str, Path] = {}
    for folder in folders:
        name = benchmark_name(folder)
        if name in named:
            msg = (
                f"two benchmarks are named {name!r}: {named[name]} and {folder}; "
                "rename one, or run them one at a time"
            )
            raise ConfigError(msg)
        named[name] = folder


def _model_name(settings: Settings, provider: Provider) -> str:
    """Return the model's name; a transcript of one model goes by that model's."""
    models: tuple[str, ...] = getattr(provider, "models", ())
    return models[0] if len(models) == 1 else settings.model


def language_code(name: str) -> str:
    """Return the code of a language, by code or alias."""
    return find(name).code
