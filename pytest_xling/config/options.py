"""The options, declared once for pytest, the ``xling`` command, the environment and ini files.

Imported when the plugin loads, so it needs nothing but the standard library.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from pytest_xling.config import values
from pytest_xling.config.request import request_item
from pytest_xling.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping


class Given(NamedTuple):
    """What an option was given outside thresholds.yaml, not yet parsed."""

    raw: object
    source: str
    """The place, as messages name it."""
    typed: bool
    """Whether by the person or script that started the process; ini files are the project's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option and all its spellings."""

    name: str
    parse: Callable[[str], object]
    """Of one value's text; raises ValueError."""
    help: str
    metavar: str = ""
    default: Any = None
    short: str | None = None
    """A second, shorter flag, kept in a plugin of its own."""
    action: Literal["store", "append", "store_true"] = "store"
    ini: Literal["string", "linelist", "int", "float", "bool"] = "string"
    """The type pytest gives the ini key; matters in native TOML configuration."""
    in_file: bool = False
    """Whether the ``run:`` block of thresholds.yaml may set it."""
    bare: str | None = None
    """The value of the flag alone; None where it needs one."""
    separator: str = os.pathsep
    """Between the values of a repeatable option in its variable."""
    refuses_empty: bool = False
    """Whether an empty variable or ini line is a mistake; for other options it is as if unset."""

    @property
    def flag(self) -> str:
        """The long option: ``--xling-run-name``."""
        return f"--xling-{self.name}"

    @property
    def env(self) -> str:
        """The environment variable: ``XLING_RUN_NAME``."""
        return f"XLING_{self.key.upper()}"

    @property
    def dest(self) -> str:
        """The attribute of parsed options, and the ini key: ``xling_run_name``."""
        return f"xling_{self.key}"

    @property
    def key(self) -> str:
        """The key in the ``run:`` block: ``run_name``."""
        return self.name.replace("-", "_")

    @property
    def attributes(self) -> dict[str, Any]:
        """Keyword arguments for argparse; the default stays None so that "not given" is seen."""
        if self.action == "store_true":
            return {"action": "store_true", "dest": self.dest, "default": None, "help": self.help}
        alone = {} if self.bare is None else {"nargs": "?", "const": self.bare}
        return alone | {
            "action": self.action,
            "dest": self.dest,
            "default": None,
            "metavar": self.metavar,
            "help": self.help,
        }

    def given(
        self,
        cli: Mapping[str, Any],
        environ: Mapping[str, str],
        ini: Callable[[str], object],
    ) -> Iterator[Given]:
        """Yield what the option is given, the most important place first.

        Args:
            cli: parsed options by dest (``vars(config.option)``); None means not given.
            environ: the environment.
            ini: from ini key to its value or None (``config.getini``).

        Raises:
            ConfigError: the ini file has a value of the wrong type.
        """
        raw = cli.get(self.dest)
        if raw is not None and raw is not False and raw != []:
            yield Given(raw, self.flag, typed=True)
        text = environ.get(self.env)
        if text or (text is not None and self.refuses_empty):  # CI sets what is unset to ""
            many = self.action == "append"
            yield Given(text.split(self.separator) if many else text, self.env, typed=True)
        try:
            raw = ini(self.dest)
        except (TypeError, ValueError) as error:  # pytest's, up to 9.1, for a wrong TOML type
            msg = f"ini {self.dest}: {error}"
            raise ConfigError(msg) from error
        if raw not in (None, "", []) or (raw is not None and self.refuses_empty):
            yield Given(raw, f"ini {self.dest}", typed=False)

    def read(self, given: Given) -> object:
        """Parse what was given; of a repeatable option, all of it by name.

        Raises:
            ConfigError: it is wrong; names the place.
        """
        try:
            return self._parsed(given.raw)
        except ValueError as error:
            msg = f"{given.source}: {error}"
            raise ConfigError(msg) from error

    def _parsed(self, raw: object) -> object:
        if isinstance(raw, bool):
            return self.parse("1" if raw else "0")
        if self.action != "append":
            return self.parse(str(raw))
        values: dict[str, Any] = {}
        for text in raw if isinstance(raw, list | tuple) else [raw]:
            pair: Any = self.parse(str(text))  # parsers of repeatable options give pairs
            name, value = pair
            if name in values:
                msg = f"{name!r} is given twice; keep one of them"
                raise ValueError(msg)
            values[name] = value
        return values


OPTIONS: tuple[Option, ...] = (
    Option(
        name="model",
        parse=values.tested_model,
        refuses_empty=True,
        short="--model",
        metavar="MODEL",
        help="Model under test: a name the OpenAI-compatible server knows, or PROVIDER:NAME such as"
        " transcript:answers.jsonl; 'embedded' needs no server. Without it the plugin is idle.",
    ),
    Option(
        name="langs",
        parse=values.languages,
        default=("all",),
        short="--langs",
        metavar="CODES",
        in_file=True,
        help="Languages, separated by commas (hi,zh), or 'all' for every one the data has. Default:"
        " all; with stored answers, those there are answers in.",
    ),
    Option(
        name="benchmarks",
        parse=values.benchmarks,
        metavar="NAME,NAME",
        help="Benchmarks to run where no path is given, separated by commas: folders, or names of"
        " those that come along (confusion, conversation, culture, health, parity,"
        " presupposition). Default:"
        " the folder benchmarks in the root directory.",
    ),
    Option(
        name="data",
        parse=values.data_path,
        action="append",
        ini="linelist",
        metavar="NAME=PATH",
        help="Use the data at PATH for benchmark NAME instead of what it brings along. Repeatable.",
    ),
    Option(
        name="env-file",
        parse=values.path,
        metavar="FILE",
        help="Read environment variables, such as API keys, from lines NAME=VALUE of this file, as"
        " .env; what is set already stays. Default: no file is read.",
    ),
    Option(
        name="thresholds",
        parse=values.path,
        metavar="FILE",
        help="Gates to judge by. Default: thresholds.yaml in the root directory, where there is"
        " one.",
    ),
    Option(
        name="store",
        parse=values.store,
        default=Path(".xling/store.sqlite"),
        metavar="FILE_OR_URL",
        help="Where answers, scores and runs are kept: a file, or a database that machines share,"
        " postgresql://USER@HOST/DATABASE. Default: .xling/store.sqlite in the root directory (for"
        " the command `xling`, in the working directory).",
    ),
    Option(
        name="run-name",
        parse=values.run_name,
        metavar="NAME",
        help="Name the run, to find it again with `xling show NAME`; one of that name that did not "
        "end goes on. Default: made up.",
    ),
    Option(
        name="shard",
        parse=values.shard,
        metavar="K/N",
        help="Ask only part K of N, such as 2/8: all of a question is in one of them. Gates are"
        " judged by `xling merge`, when all parts are there.",
    ),
    Option(
        name="fresh",
        parse=values.flag,
        default=False,
        action="store_true",
        ini="bool",
        help="Ask all questions anew, whatever the store has; what it has stays, for earlier runs.",
    ),
    Option(
        name="max-age",
        parse=values.duration,
        metavar="AGE",
        in_file=True,
        help="Ask anew what was answered longer ago than this, such as 12h, 7d or 2w. Default: an"
        " answer never ages.",
    ),
    Option(
        name="model-version",
        parse=values.model_version,
        metavar="TEXT",
        help="Which release of the model this is, where its name does not say so, such as a tag or"
        " a date: answers of another one do not count.",
    ),
    Option(
        name="partial",
        parse=values.flag,
        default=False,
        action="store_true",
        ini="bool",
        help="Accept that gates or required languages are left out, as by -k, for work by hand:"
        " exit 0 is then no release's.",
    ),
    Option(
        name="samples",
        parse=values.count(1),
        ini="int",
        metavar="K",
        in_file=True,
        help="Ask every question K times. Default: what the benchmark's prompts.yaml says, else 1.",
    ),
    Option(
        name="temperatures",
        parse=values.temperatures,
        metavar="T,T",
        in_file=True,
        help="Sampling temperatures, separated by commas, each 0 to 2; or the word 'default' to"
        " send none, for models that refuse it. Default: what the benchmark's prompts.yaml says,"
        " else 0.",
    ),
    Option(
        name="limit",
        parse=values.count(1),
        ini="int",
        metavar="N",
        in_file=True,
        help="Ask only the first N questions of each language, taking turns between the sets of a"
        " benchmark; parallel questions stay parallel.",
    ),
    Option(
        name="seed",
        parse=values.count(0),
        default=0,
        ini="int",
        metavar="N",
        in_file=True,
        help="Seed of everything random, sent to the model too (default 0). With another one all is"
        " asked anew.",
    ),
    Option(
        name="max-connections",
        parse=values.count(1),
        ini="int",
        metavar="N",
        in_file=True,
        help="Requests in flight at once, at most. Default: what the provider can use.",
    ),
    Option(
        name="max-cost",
        parse=values.number(minimum=0),
        ini="float",
        metavar="USD",
        in_file=True,
        help="Stop asking once the run has cost this many US dollars; needs --xling-price.",
    ),
    Option(
        name="price",
        parse=values.price,
        metavar="IN,OUT",
        in_file=True,
        help="The model's price in US dollars per million prompt and completion tokens, as 2.5,10.",
    ),
    Option(
        name="max-tokens",
        parse=values.count(1),
        default=2048,
        ini="int",
        metavar="N",
        in_file=True,
        help="Longest answer, in tokens (default 2048); a benchmark that asks for a word has a"
        " lower limit of its own.",
    ),
    Option(
        name="request",
        parse=request_item,
        action="append",
        separator="\n",
        ini="linelist",
        metavar="NAME=VALUE",
        help="Add a parameter to each request, by the server's own name: top_p=0.9, or with dots"
        " and JSON reasoning.effort=low, tools=[...]. Counts before prompts.yaml's `request:`."
        " Repeatable; in the variable a line each.",
    ),
    Option(
        name="timeout",
        parse=values.number(above=0),
        default=120.0,
        ini="float",
        metavar="SECONDS",
        in_file=True,
        help="Give up waiting for one answer after this long (default 120).",
    ),
    Option(
        name="patience",
        parse=values.number(above=0),
        default=120.0,
        ini="float",
        metavar="SECONDS",
        in_file=True,
        help="Stop a run whose model, judge or translator answers nothing for this long, whatever"
        " it says instead: 429, 5xx, no connection (default 120).",
    ),
    Option(
        name="batch-wait",
        parse=values.number(minimum=0),
        default=86_400.0,
        ini="float",
        metavar="SECONDS",
        in_file=True,
        help="Wait so long for answers that come in batches (of a model named batch:NAME), then"
        " exit 3; a later run takes them in. 0: hand in and leave. Default: 86400, a day.",
    ),
    Option(
        name="estimate",
        parse=values.flag,
        default=False,
        action="store_true",
        ini="bool",
        help="Ask nothing: show how many requests and tokens the run would take and what they"
        " would cost, per language.",
    ),
    Option(
        name="judge",
        parse=values.models,
        in_file=True,
        metavar="MODEL",
        help="Model that compares answers with the reference, and with --xling-stance=llm with the"
        " claim, with --xling-empathy=llm with the post; named as for --xling-model. Several, with"
        " commas between them, vote. Default: the model under test judges itself.",
    ),
    Option(
        name="judge-price",
        parse=values.prices,
        in_file=True,
        metavar="IN,OUT",
        help="The judge's price, as --xling-price; of several judges each, as 2.5,10;0.15,0.6.",
    ),
    Option(
        name="judge-repeats",
        parse=values.count(minimum=1),
        default=1,
        ini="int",
        in_file=True,
        metavar="R",
        help="Ask each judge R times, and go by the majority (default 1).",
    ),
    Option(
        name="anchors",
        parse=values.count(minimum=0),
        default=30,
        ini="int",
        in_file=True,
        metavar="N",
        help="Of how many labelled answers a language a judge that is paid is asked again before"
        " its labels decide a gate that demands min_judge_f1 (default 30; 0: of none).",
    ),
    Option(
        name="translator",
        parse=values.model,
        in_file=True,
        metavar="MODEL",
        help="Model that translates answers into English, named as for --xling-model; a"
        " sequence-to-sequence model as hf:NAME. Needed with --xling-text-in=english.",
    ),
    Option(
        name="translator-price",
        parse=values.price,
        in_file=True,
        metavar="IN,OUT",
        help="The translator's price, as --xling-price.",
    ),
    Option(
        name="search",
        parse=values.model,
        in_file=True,
        metavar="NAME",
        help="What finds evidence for claims: bm25 (articles that come along), bm25:FILE or"
        " bm25:DIR (your own), serper or serper:URL (Google, or what speaks like it). Tests of"
        " factuality are skipped where it is not given.",
    ),
    Option(
        name="search-price",
        parse=values.number(minimum=0),
        in_file=True,
        metavar="PRICE",
        help="The price of a thousand searches in US dollars.",
    ),
    Option(
        name="text-in",
        parse=values.text_in,
        default="native",
        in_file=True,
        metavar="HOW",
        help="What metrics of texts read: the answers as they are (native, default), or translated"
        " (english).",
    ),
    Option(
        name="encoder",
        parse=values.model,
        default="embedded",
        in_file=True,
        metavar="NAME",
        help="Encoder of metrics that compare meanings: embedded (default), or the name or"
        " directory of a sentence-transformers or transformers model.",
    ),
    Option(
        name="stance",
        parse=values.stance,
        default="reader",
        in_file=True,
        metavar="HOW",
        help="What finds whether an answer agrees with a claim: reader (the classifier that comes"
        " along, default), reader:DIR (one that `xling train stance` made), llm (the judge), or"
        " nli:NAME, the name or directory of a transformers model of natural language inference.",
    ),
    Option(
        name="empathy",
        parse=values.empathy,
        default="head",
        in_file=True,
        metavar="HOW",
        help="What finds how an answer expresses empathy: head (the classifier that comes along,"
        " default), head:DIR (one that `xling train empathy` made), or llm (the judge).",
    ),
    Option(
        name="support",
        parse=values.model,
        default="llm",
        in_file=True,
        metavar="HOW",
        help="What finds whether a text supports a claim: llm (the judge, default), or nli:NAME,"
        " the name or directory of a transformers model of natural language inference.",
    ),
    Option(
        name="param",
        parse=values.parameter,
        action="append",
        ini="linelist",
        metavar="NAME.FIELD=VALUE",
        help="Set a parameter of a metric or annotator, such as bertscore.idf=true. Repeatable.",
    ),
    Option(
        name="device",
        parse=values.device,
        default="auto",
        metavar="DEVICE",
        help="Where local models run: auto (default), cpu, mps, cuda or cuda:N.",
    ),
    Option(
        name="executor",
        parse=values.executor,
        default="local",
        metavar="WHERE",
        help="Where metrics run, the models they rest on, and hf: models: local (default), ray"
        " (processes of Ray's on this machine), or ray:ADDRESS (HOST:PORT of a Ray cluster, or"
        " auto).",
    ),
    Option(
        name="actors",
        parse=values.count(1),
        ini="int",
        metavar="N",
        help="With --xling-executor=ray, how many processes run metrics, and copies of each hf:"
        " model. Default: one for each GPU of the cluster, else for each core.",
    ),
    Option(
        name="stop-early",
        parse=values.stop_early,
        bare="pocock",
        in_file=True,
        metavar="HOW",
        help="Ask in random order, look at the gates now and then, and ask no more once one has"
        " failed: pocock (also the flag alone; stops soonest) or obrien-fleming (costs the last"
        " look least), with the number of looks as in pocock:10 (default 10).",
    ),
    Option(
        name="baseline",
        parse=values.baseline,
        short="--baseline",
        in_file=True,
        metavar="RUN|FILE|MODEL",
        help="Compare with another run, question by question: a run of the store, a file written by"
        " `xling export`, or the run that was promoted for a model. Judged by max_drop in"
        " thresholds.yaml.",
    ),
    Option(
        name="report",
        parse=values.path,
        metavar="FILE",
        help="Write a report of the run there, one HTML file that needs no network; what is there"
        " is replaced.",
    ),
    Option(
        name="github",
        parse=values.github,
        default="auto",
        bare="on",
        metavar="WHEN",
        help="Write a summary of the step and annotations for GitHub Actions: auto (default: where"
        " GITHUB_STEP_SUMMARY is set), on or off.",
    ),
    Option(
        name="update-thresholds",
        parse=values.update_thresholds,
        default="off",
        bare="on",
        metavar="WHEN",
        help="After a complete run, write into the thresholds file the limits that `xling tune`"
        " would propose from it; refused in CI unless the value is force.",
    ),
)

SHORT = tuple(entry for entry in OPTIONS if entry.short is not None)
"""Those with a short spelling."""

_BY_NAME = {entry.name: entry for entry in OPTIONS}


def option(name: str) -> Option:
    """Return the option called *name*."""
    return _BY_NAME[name]


def our_variables(environ: Mapping[str, str]) -> list[str]:
    """Return the names of the variables that are, or look like, options of ours."""
    return sorted(
        name for name in environ if name.startswith("XLING_") and not name.startswith(_FREE)
    )


def refuse_unknown_variables(environ: Mapping[str, str]) -> None:
    """Refuse variables that look like options of ours and are none.

    Raises:
        ConfigError: names the first, and what may be meant.
    """
    known = {entry.env for entry in OPTIONS}
    if name := next((name for name in our_variables(environ) if name not in known), None):
        msg = f"environment variable {name} means nothing here.{did_you_mean(name, known)} Unset it"
        raise ConfigError(msg)


_FREE = ("XLING_TEST_", "XLING_CI_")
"""What our own test suite and CI recipes may use."""


class OptionGroup(Protocol):
    """What is used of pytest's option group."""

    def addoption(self, *opts: str, **attrs: Any) -> None:
        """Declare an option."""
        ...


class PytestParser(Protocol):
    """What is used of pytest's parser."""

    def getgroup(self, name: str, description: str = "") -> OptionGroup:
        """Return the group of that name, made where there is none."""
        ...

    def addini(
        self,
        name: str,
        help: str,  # noqa: A002  pytest's own name for it
        type: Any = None,  # noqa: A002, ANN401  likewise
        default: Any = None,  # noqa: ANN401  likewise
    ) -> None:
        """Declare an ini key."""
        ...


INI_FILES = ("pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
"""Where pytest may be configured."""
REQUIRE_MODEL = "xling_require_model"
"""An ini key: a benchmark that is run without a model is a mistake, and not skipped."""

_TITLE = "cross-lingual release gates (also as XLING_NAME in the environment, xling_name in ini)"


def add_pytest_options(parser: PytestParser) -> None:
    """Declare every ``--xling-*`` option and ``xling_*`` ini key."""
    group = parser.getgroup("xling", _TITLE)
    for entry in OPTIONS:
        group.addoption(entry.flag, **entry.attributes)
        parser.addini(entry.dest, entry.help, type=entry.ini, default=None)
    parser.addini(
        REQUIRE_MODEL,
        "End with status 4 where benchmarks are run and no model is named, in place of skipping.",
        type="bool",
        default=False,
    )


def add_short_option(parser: PytestParser, entry: Option) -> None:
    """Declare the short spelling of an option: ``--model``, ``--langs`` or ``--baseline``.

    Raises:
        ConfigError: it belongs to somebody else.
    """
    attributes = entry.attributes | {"help": f"Short for {entry.flag}."}
    try:
        parser.getgroup("xling", _TITLE).addoption(str(entry.short), **attributes)
    except (ValueError, argparse.ArgumentError) as error:  # pytest's own, or argparse's
        raise ConfigError(way_out(entry)) from error


def way_out(entry: Option) -> str:
    """Say what to do where a short option belongs to somebody else."""
    return (
        f"{entry.short} belongs to a conftest.py or to another plugin; use {entry.flag} for"
        " pytest-xling's, and say `-p no:xling_short` (in addopts, to make that permanent) where"
        " theirs is meant"
    )


def add_cli_options(parser: argparse.ArgumentParser, names: Iterable[str]) -> None:
    """Declare the options called *names*, with their short flags, for the ``xling`` command."""
    for name in names:
        entry = option(name)
        flags = [entry.flag] if entry.short is None else [entry.flag, entry.short]
        parser.add_argument(*flags, **entry.attributes)
