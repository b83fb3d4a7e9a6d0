"""Settle what a run is told: command line > environment > ini > thresholds.yaml > default."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pytest_xling.config.options import option, refuse_unknown_variables
from pytest_xling.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_xling.config.store_location import StoreLocation
    from pytest_xling.config.thresholds import ThresholdFile
    from pytest_xling.keys import JsonValue

Languages: TypeAlias = "tuple[str, ...] | Literal['all']"
Ini: TypeAlias = "Callable[[str], object]"

USUAL_THRESHOLDS = "thresholds.yaml"
"""The file of limits, in the root directory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything a run was told, settled and checked."""

    model: str
    languages: Languages = "all"
    """Canonical codes in the order given, each once; or ``all`` that the data has."""
    data: Mapping[str, Path] = field(default_factory=dict)
    """Benchmark name to where its data is, for those not using what they bring along."""
    thresholds: Path | None = None
    store: StoreLocation = option("store").default
    run_name: str | None = None
    shard: str | None = None
    """Which of how many: ``2/8``."""
    max_age_s: float | None = None
    """Answers that were older than this when the run began are asked anew; 0 asks all."""
    model_version: str | None = None
    """Which release of the model is asked; answers of others do not count."""
    partial: bool = option("partial").default
    """Whether gates and required languages may be left out."""
    samples: int | None = None
    """How often each question is asked; None leaves it to the benchmark."""
    temperatures: tuple[float | None, ...] | None = None
    """Rising, each once, 0 to 2; or only None, to leave it to the model. As a whole None leaves
    them to the benchmark."""
    limit: int | None = None
    seed: int = option("seed").default
    max_connections: int | None = None
    max_cost_usd: float | None = None
    price: tuple[float, float] | None = None
    """US dollars per million prompt and completion tokens."""
    max_tokens: int = option("max-tokens").default
    request: Mapping[str, JsonValue] = field(default_factory=dict)
    """Dotted name to what is added to each request."""
    timeout_s: float = option("timeout").default
    patience_s: float = option("patience").default
    """How long a model may answer nothing before nothing more is asked of it."""
    batch_wait_s: float = option("batch-wait").default
    """How long answers are waited for that come in batches."""
    estimate: bool = option("estimate").default
    device: str = option("device").default
    executor: str = option("executor").default
    """``local``, ``ray``, or ``ray:`` and an address."""
    actors: int | None = None
    """Processes of Ray's; None: as many as it has GPUs, or cores."""
    judge: tuple[str, ...] = ()
    """Several vote; none: the model under test judges."""
    judge_price: tuple[tuple[float, float], ...] = ()
    """Of each judge."""
    judge_repeats: int = option("judge-repeats").default
    anchors: int = option("anchors").default
    """How many labelled answers a language a judge is asked about again."""
    translator: str | None = None
    translator_price: tuple[float, float] | None = None
    search: str | None = None
    search_price: float | None = None
    """US dollars per thousand searches."""
    text_in: str = option("text-in").default
    """``english`` or ``native``."""
    encoder: str = option("encoder").default
    stance: str = option("stance").default
    """``head``, ``llm`` or ``nli:`` and a model."""
    empathy: str = option("empathy").default
    """``head``, ``llm`` or ``head:`` and a folder."""
    support: str = option("support").default
    """``llm`` or ``nli:`` and a model."""
    parameters: Mapping[str, str | float | bool | None] = field(default_factory=dict)
    """``metric.field`` to its value."""
    stop_early: str | None = None
    """How alpha is spent, and over how many looks: ``pocock:10``."""
    baseline: str | None = None
    """What the run is compared with: a file's path where there is one, else a name."""
    report: Path | None = None
    """Where to write the report; its folder exists."""
    github: str = option("github").default
    update_thresholds: str = option("update-thresholds").default
    """``on``, ``off`` or ``force``."""
    """``auto``, ``on`` or ``off``."""

    def answers_since(self, began: float) -> float:
        """Return since when an answer counts in a run that began at *began*, in seconds."""
        return 0.0 if self.max_age_s is None else began - self.max_age_s

    def as_json(self) -> dict[str, JsonValue]:
        """Return the settings as plain JSON values, for a run's record."""
        return {
            "model": self.model,
            "languages": self.languages,
            "data": {name: str(path) for name, path in self.data.items()},
            "thresholds": None if self.thresholds is None else str(self.thresholds),
            "store": str(self.store),
            "run_name": self.run_name,
            "shard": self.shard,
            "max_age_s": self.max_age_s,
            "model_version": self.model_version,
            "partial": self.partial,
            "samples": self.samples,
            "temperatures": self.temperatures,
            "limit": self.limit,
            "seed": self.seed,
            "max_connections": self.max_connections,
            "max_cost_usd": self.max_cost_usd,
            "price": self.price,
            "max_tokens": self.max_tokens,
            "request": dict(self.request),
            "timeout_s": self.timeout_s,
            "patience_s": self.patience_s,
            "batch_wait_s": self.batch_wait_s,
            "estimate": self.estimate,
            "device": self.device,
            "executor": self.executor,
            "actors": self.actors,
            "judge": _alone(self.judge),
            "judge_price": _alone(self.judge_price),
            "judge_repeats": self.judge_repeats,
            "anchors": self.anchors,
            "translator": self.translator,
            "translator_price": self.translator_price,
            "search": self.search,
            "search_price": self.search_price,
            "text_in": self.text_in,
            "encoder": self.encoder,
            "stance": self.stance,
            "empathy": self.empathy,
            "support": self.support,
            "parameters": dict(self.parameters),
            "stop_early": self.stop_early,
            "baseline": self.baseline,
            "report": None if self.report is None else str(self.report),
            "github": self.github,
            "update_thresholds": self.update_thresholds,
        }


def _alone(values: tuple[Any, ...]) -> Any:  # noqa: ANN401  plain JSON values
    """Return the one value there is, all of several, or None."""
    return values[0] if len(values) == 1 else values or None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parsed:
    """A parsed value and where it was given."""

    value: Any
    source: str
    base: Path
    """What a relative path in it is relative to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sources:
    """The places an option may be given in, most important first."""

    cli: Mapping[str, Any]
    environ: Mapping[str, str]
    ini: Ini
    thresholds_file: ThresholdFile | None
    rootdir: Path
    cwd: Path

    def find(self, name: str) -> _Parsed:
        """Return the value of the first place that gives one, else the default.

        Raises:
            ConfigError: it cannot be parsed; names the place.
        """
        entry = option(name)
        for given in entry.given(self.cli, self.environ, self.ini):
            base = self.cwd if given.typed else self.rootdir
            return _Parsed(value=entry.read(given), source=given.source, base=base)
        run = {} if self.thresholds_file is None else self.thresholds_file.run
        if entry.key in run:
            setting = run[entry.key]
            return _Parsed(value=setting.value, source=setting.origin, base=self.rootdir)
        return _Parsed(value=entry.default, source="default", base=self.rootdir)


def locate_thresholds(
    cli: Mapping[str, Any],
    environ: Mapping[str, str],
    ini: Ini,
    *,
    rootdir: Path,
    cwd: Path | None = None,
) -> Path | None:
    """Return the thresholds file to use; None where none is named and none lies in rootdir.

    Raises:
        ConfigError: a file is named that does not exist.
    """
    option = _Sources(
        cli=cli,
        environ=environ,
        ini=ini,
        thresholds_file=None,
        rootdir=rootdir,
        cwd=cwd or Path.cwd(),
    ).find("thresholds")
    if option.value is None:
        usual = rootdir / USUAL_THRESHOLDS
        if not usual.is_file() and (other := usual.with_suffix(".yml")).is_file():
            msg = (
                f"{other} is not read: limits are looked for in {usual.name}; rename it, or say "
                f"--xling-thresholds={other}"
            )
            raise ConfigError(msg)
        return usual if usual.is_file() else None
    path: Path = option.base / option.value
    if not path.is_file():
        msg = f"{option.source}: no file {str(path)!r}; check the path"
        raise ConfigError(msg)
    return path


def resolve(
    cli: Mapping[str, Any],
    environ: Mapping[str, str],
    ini: Ini,
    *,
    thresholds_file: ThresholdFile | None,
    rootdir: Path,
    language_code: Callable[[str], str],
    cwd: Path | None = None,
) -> Settings:
    """Settle all settings.

    Args:
        cli: parsed options by dest (``vars(config.option)``); None means not given.
        environ: the environment; only XLING_* is looked at.
        ini: from ini key to its value or None (``config.getini``).
        thresholds_file: the file at `locate_thresholds`, already read.
        rootdir: what relative paths in ini files and defaults are relative to.
        language_code: from a code or alias to the code; raises ConfigError.
        cwd: what relative paths on the command line and in the environment are relative to.

    Raises:
        ConfigError: names the place of the mistake and the fix.
    """
    refuse_unknown_variables(environ)
    sources = _Sources(
        cli=cli,
        environ=environ,
        ini=ini,
        thresholds_file=thresholds_file,
        rootdir=rootdir,
        cwd=cwd or Path.cwd(),
    )
    find = sources.find
    model = find("model").value
    if model is None:
        msg = "no model is given; say --xling-model=MODEL (or --model, or XLING_MODEL)"
        raise ConfigError(msg)
    _refuse_beside_shard(find)
    return Settings(
        model=model,
        languages=_languages(find("langs"), language_code),
        data=_existing(find("data")),
        thresholds=locate_thresholds(cli, environ, ini, rootdir=rootdir, cwd=cwd),
        store=_located(find("store")),
        run_name=find("run-name").value,
        shard=find("shard").value,
        max_age_s=_max_age(find("fresh"), find("max-age")),
        model_version=find("model-version").value,
        partial=_by_hand(find("partial")),
        samples=find("samples").value,
        temperatures=find("temperatures").value,
        limit=find("limit").value,
        seed=find("seed").value,
        max_connections=find("max-connections").value,
        max_cost_usd=find("max-cost").value,
        price=find("price").value,
        max_tokens=find("max-tokens").value,
        timeout_s=find("timeout").value,
        patience_s=find("patience").value,
        batch_wait_s=find("batch-wait").value,
        estimate=find("estimate").value,
        device=find("device").value,
        executor=find("executor").value,
        actors=find("actors").value,
        judge=find("judge").value or (),
        judge_price=_of_each(find("judge-price"), find("judge").value or ()),
        judge_repeats=find("judge-repeats").value,
        anchors=find("anchors").value,
        translator=find("translator").value,
        translator_price=find("translator-price").value,
        search=find("search").value,
        search_price=find("search-price").value,
        text_in=find("text-in").value,
        encoder=find("encoder").value,
        stance=find("stance").value,
        empathy=find("empathy").value,
        support=find("support").value,
        parameters=find("param").value or {},
        request=find("request").value or {},
        stop_early=find("stop-early").value,
        baseline=_file_or_name(find("baseline")),
        report=_writable(find("report")),
        github=find("github").value,
        update_thresholds=find("update-thresholds").value,
    )


def _refuse_beside_shard(find: Callable[[str], _Parsed]) -> None:
    """Refuse what needs the gates of a run, in a shard of it.

    Raises:
        ConfigError: such an option is given beside ``--xling-shard``.
    """
    shard = find("shard")
    for name in ("stop-early", "update-thresholds"):
        other = find(name)
        if shard.value is None or other.value == option(name).default:
            continue
        msg = (
            f"{shard.source}: a shard judges no gate, and {option(name).flag} ({other.source}) goes"
            " by gates; leave it out, or run without shards"
        )
        raise ConfigError(msg)


def _max_age(fresh: _Parsed, age: _Parsed) -> float | None:
    """Return how old an answer may be in seconds, which is 0 where all are asked anew."""
    return 0.0 if fresh.value else age.value


def _by_hand(partial: _Parsed) -> bool:
    """Return whether gates may be left out.

    Raises:
        ConfigError: a file says so, for good.
    """
    if partial.value and partial.source not in {option("partial").flag, option("partial").env}:
        msg = (
            f"{partial.source}: gates may be left out in work by hand, not for good; say "
            f"{option('partial').flag} on the command line"
        )
        raise ConfigError(msg)
    return bool(partial.value)


def _languages(option: _Parsed, language_code: Callable[[str], str]) -> Languages:
    if option.value == ("all",):
        return "all"
    codes: dict[str, None] = {}
    for name in option.value:
        try:
            codes[language_code(name)] = None
        except ConfigError as error:
            msg = f"{option.source}: {error}"
            raise ConfigError(msg) from error
    return tuple(codes)


def _located(option: _Parsed) -> StoreLocation:
    """Return where the store is; a relative path's place depends on who gave it."""
    location: StoreLocation = option.value
    return option.base / location if isinstance(location, Path) else location


def _existing(option: _Parsed) -> dict[str, Path]:
    paths = {name: option.base / path for name, path in (option.value or {}).items()}
    for name, path in paths.items():
        if not path.exists():
            msg = (
                f"{option.source}: no file or directory {str(path)!r} for {name!r}; check the path"
            )
            raise ConfigError(msg)
    return paths


def _of_each(option: _Parsed, judges: tuple[str, ...]) -> tuple[tuple[float, float], ...]:
    """Return a price for each judge, or none at all.

    Raises:
        ConfigError: there are more or fewer prices than judges.
    """
    prices: tuple[tuple[float, float], ...] = option.value or ()
    if prices and len(prices) != max(1, len(judges)):
        msg = (
            f"{option.source}: prices: {len(prices)}, judges: {len(judges)} ({', '.join(judges)});"
            " give one for each, with ';' between them, such as 2.5,10;0.15,0.6"
        )
        raise ConfigError(msg)
    return prices


def _file_or_name(option: _Parsed) -> str | None:
    """Return the full path of a file that is there; what names none is a name."""
    if option.value is None:
        return None
    path: Path = (option.base / option.value).expanduser()
    return str(path) if path.is_file() else str(option.value)


def _writable(option: _Parsed) -> Path | None:
    """Return the file to write, if one is named.

    Raises:
        ConfigError: its folder is missing, or it is a folder itself.
    """
    if option.value is None:
        return None
    path: Path = option.base / option.value
    if path.is_dir():
        msg = f"{option.source}: {str(path)!r} is a folder; name a file in it, such as report.html"
        raise ConfigError(msg)
    if not path.parent.is_dir():
        msg = f"{option.source}: no folder {str(path.parent)!r}; make it, or name another file"
        raise ConfigError(msg)
    return path
