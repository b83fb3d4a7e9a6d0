"""The models of a run: the model under test, a judge, a translator, and a search."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import chain
from typing import TYPE_CHECKING

from pytest_xling import registry
from pytest_xling.engine.answering import kept_as, provider_digest
from pytest_xling.engine.client import Client
from pytest_xling.engine.limits import Account, Budget, Patience, Slots, patience_for
from pytest_xling.engine.memo import AnswerMemo
from pytest_xling.errors import ConfigError, EvaluationError, did_you_mean
from pytest_xling.interfaces.batching import Batching
from pytest_xling.interfaces.provider import Translating
from pytest_xling.records import Message, Request
from pytest_xling.text.thoughts import split_response

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_xling.config.settings import Settings
    from pytest_xling.engine.executor import Executor
    from pytest_xling.engine.store_writer import StoreWriter
    from pytest_xling.interfaces.annotator import Role
    from pytest_xling.interfaces.provider import Provider
    from pytest_xling.keys import JsonValue
    from pytest_xling.records import PromptStyle, Response

FIRST_REQUESTS = 4
"""Requests in flight until one was answered, of each process: a wrong key makes no more."""
SHORTEST_MISSPELT, MISSPELT = 6, 0.8
"""Letters of a provider's name, and the likeness to it (0 to 1), from which another is a slip."""
FIRST_PROMPT_TOKENS = 200
"""What a prompt is reckoned to hold until one has been counted."""
_REPEATS = 1000
"""More often than this no judge is asked the same in an edition, nor asks an annotator itself."""
MAX_TOKENS = 1024
"""The longest reply of a judge or translator that says nothing else."""


class Models:
    """The models of a run: the one under test, and those with a role, such as a judge.

    The memo of its answers is opened when first needed.

    Args:
        tested: the model under test.
        roles: who judges, translates and searches; may be the model under test itself.
        store: where answers are kept.
        edition: keeps answers of the model under test beside its earlier ones; "" for none.
        since: of that model, answers made before, in seconds since 1970, do not count.
    """

    def __init__(
        self,
        tested: Client,
        roles: Mapping[Role, Sequence[Client]],
        store: StoreWriter,
        *,
        edition: str = "",
        since: float = 0.0,
    ) -> None:
        self.tested = tested
        self._edition, self._since = edition, since
        self._roles = roles
        self._store = store
        # A model with two roles has one client: its limits hold for all of its requests.
        self._clients = {id(c): c for c in (tested, *chain.from_iterable(roles.values()))}
        for client in self._clients.values():
            client.open(store)
        self._memos: dict[int, asyncio.Task[AnswerMemo]] = {}

    async def asks(self, role: Role) -> list[RoleAsk]:
        """Return what puts questions to those who have *role*, one for each.

        Raises:
            EvaluationError: nobody has it.
        """
        if role not in self._roles:
            msg = f"no {role} is named: give one with --xling-{role}=MODEL"
            raise EvaluationError(msg)
        return [RoleAsk(await self.memo(client), client) for client in self._roles[role]]

    async def memo(self, client: Client) -> AnswerMemo:
        """Return the answers of a model."""
        key = id(client)
        if key not in self._memos:
            edition, since = (self._edition, self._since) if client is self.tested else ("", 0.0)
            opening = AnswerMemo.open(client, self._store, edition=edition, since=since)
            self._memos[key] = asyncio.create_task(opening)
        return await self._memos[key]

    def shut(self, reason: str) -> None:
        """Ask no model anything more, because of *reason*."""
        for client in self._clients.values():
            client.shut(reason)

    def abandon(self, reason: str) -> None:
        """Ask no model anything more, because of *reason*, and drop what is under way."""
        for client in self._clients.values():
            client.abandon(reason)

    async def close(self, *, grace_s: float) -> None:
        """Ask no model anything more, and wait up to *grace_s* for what is under way."""
        await asyncio.gather(*(each.close(grace_s=grace_s) for each in self._clients.values()))

    @property
    def providers(self) -> list[Provider]:
        """All providers, each once."""
        return [client.provider for client in self._clients.values()]

    @property
    def waiting(self) -> str:
        """Which models answer nothing just now, for how long, and which batches are in flight."""
        return "; ".join(filter(None, (client.waiting for client in self._clients.values())))

    @property
    def spent_usd(self) -> float:
        """What was spent so far, all together."""
        accounts = [client.account for client in self._clients.values()]
        return sum(account.spent_usd for account in accounts if account is not None)


class RoleAsk:
    """Puts questions to a model that has a role, through its memo.

    Args:
        memo: of the model's answers.
        client: asks it.
        first: the repeat that asks begin at; another one asks everything anew.
    """

    def __init__(self, memo: AnswerMemo, client: Client, *, first: int = 0) -> None:
        self.style: PromptStyle = client.provider.style
        self.structured: bool = getattr(client.provider, "structured", False)
        self._memo = memo
        self._client = client
        self._first = first

    @property
    def identity(self) -> str:
        """What stands for the model in a signature.

        Beside its name a digest of all its provider knows of it.
        """
        name, provider = self._client.name, self._client.provider
        return f"{kept_as(provider)}:{name}@{provider_digest(provider, name)[:12]}"

    def anew(self, edition: int, number: int) -> RoleAsk:
        """Return what asks everything anew that another edition, or number within it, has asked."""
        first = (edition * _REPEATS + number) * _REPEATS
        return RoleAsk(self._memo, self._client, first=first)

    async def __call__(
        self,
        messages: Sequence[Message],
        *,
        params: Mapping[str, JsonValue] | None = None,
        repeat: int = 0,
    ) -> Response:
        """Return what the model answers, or the search finds.

        Raises:
            ProviderFault, BudgetExceeded: nothing was answered.
        """
        usual = {} if self.style == "search" else {"max_tokens": MAX_TOKENS, "temperature": 0.0}
        given = {**usual, **(params or {})}
        response = await self._memo(
            Request(
                model=self._client.name,
                messages=tuple(messages),
                params=given,
                repeat=self._first + repeat,
            )
        )
        # What it quotes may hold tags, too.
        return split_response(response, begun_by_prompt=False)


def make_provider(settings: Settings) -> Provider:
    """Return the provider ``--model`` names: ``NAME``, ``NAME:SPEC``, or a model for ``openai``.

    Raises:
        ConfigError: there is no such provider, it only searches, or its price is needed.
    """
    return _provider(settings, settings.model)


def _asked_name(model: str) -> str:
    """Return the name by which its provider knows a model: without the provider's."""
    name, _, spec = model.partition(":")
    return spec if name in registry.names("provider") and spec else model


def _provider(settings: Settings, model: str, *, role: Role | None = None) -> Provider:
    """Return the provider of a model, or of a search; of the model under test without a role."""
    wanted = role == "search"
    name, spec = provider_of(model, searches=wanted)
    make = registry.load("provider", name)
    with _named_by(role):
        provider: Provider = make(spec, timeout_s=settings.timeout_s, device=settings.device)
        _check_style(provider, model, searches=wanted)
    price = settings.price_of(model)
    such = "thousand searches, such as" if wanted else "million tokens, in and out, such as"
    per = f"{such} --xling-price={model}={'1' if wanted else '2.5,10'}"
    if price is not None and isinstance(price, tuple) == wanted:
        msg = f"--xling-price: that of {model!r} is in US dollars per {per}"
        raise ConfigError(msg)
    if settings.max_cost_usd is not None and provider.paid and price is None:
        msg = (
            f"--xling-max-cost needs the price of {model!r} to know when to stop: give it in US "
            f"dollars per {per}"
        )
        raise ConfigError(msg)
    return provider


def check_provider(provider: Provider, role: Role | None = None) -> None:
    """Check a model that *role* has, or the one under test, before anything is asked.

    Raises:
        ConfigError: no request to it can succeed; names the option that named it.
    """
    with _named_by(role):
        provider.check()


@contextmanager
def _named_by(role: Role | None) -> Iterator[None]:
    """Have mistakes in what an option names name that option, where they do not yet."""
    option = "--model" if role is None else f"--xling-{role}"
    try:
        yield
    except ConfigError as error:
        if option in str(error):
            raise
        msg = f"{option}: {error}"
        raise type(error)(msg) from error


def _check_style(provider: Provider, model: str, *, searches: bool) -> None:
    """Raise ConfigError where a model is named as a search, or a search as a model."""
    if (provider.style == "search") != searches:
        msg = (
            f"--xling-search={model}: this is no search.{_known_searches(model)}"
            if searches
            else f"{model!r} searches, it answers nothing: name it with --xling-search"
        )
        raise ConfigError(msg)


def _known_searches(model: str) -> str:
    """Say which searches there are, and which of them *model* may have been meant to be."""
    known = [name for name in registry.names("provider") if _searches(name)]
    return f"{did_you_mean(model.partition(':')[0], known)} There are: {', '.join(known) or 'none'}"


def _searches(name: str) -> bool:
    return getattr(registry.load("provider", name), "style", None) == "search"


def provider_of(model: str, *, searches: bool = False) -> tuple[str, str]:
    """Return a model's provider and what it is called there.

    Args:
        model: as it was named.
        searches: whether a search is meant, not a model.

    Raises:
        ConfigError: it looks like a provider's name with a slip of the pen.
    """
    name, _, spec = model.partition(":")
    known = registry.names("provider")
    if name in known:
        return name, spec
    # What is long enough to be misspelt, and so close that no server has a model of that name.
    lower = name.lower()
    words = [word for word in known if len(word) >= SHORTEST_MISSPELT or word == lower]
    close = get_close_matches(lower, words, cutoff=MISSPELT)
    if meant := next((word for word in close if _searches(word) == searches), None):
        whole = meant + model[len(name) :]
        other = "" if searches else f" A server's model of that very name is 'openai:{model}'"
        msg = f"{model!r}: there is no provider {name!r}. Did you mean {whole!r}?{other}"
        raise ConfigError(msg)
    return "openai", model


def named_roles(settings: Settings) -> Iterator[tuple[Role, str]]:
    """Yield each role with who has it; there may be several judges."""
    for judge in settings.judge or (settings.model,):
        yield "judge", judge
    if settings.translator is not None:
        yield "translator", settings.translator
    if settings.search is not None:
        yield "search", settings.search


def make_roles(settings: Settings, tested: Provider) -> dict[Role, list[Provider]]:
    """Return the judges, the translator and the search, checked.

    Raises:
        ConfigError: one is no such thing, cannot be asked, or is needed and not named.
    """
    roles: dict[Role, list[Provider]] = {}
    # One model is one provider, whatever its roles and however it is named.
    made = {provider_of(settings.model): tested}
    names: dict[tuple[Role, str, str], str] = {}
    for role, model in named_roles(settings):
        key = provider_of(model, searches=role == "search")
        if key not in made:
            made[key] = _provider(settings, model, role=role)
            check_provider(made[key], role)
        else:
            _check_style(made[key], model, searches=role == "search")
        same = role, kept_as(made[key]), key[1]
        if (other := names.setdefault(same, model)) != model:
            msg = (
                f"--xling-judge: {other!r} and {model!r} are one model; a judge is asked again with"
                " --xling-param=judge_repeats=R"
            )
            raise ConfigError(msg)
        roles.setdefault(role, []).append(made[key])
    if settings.shared("text_in") == "english" and "translator" not in roles:
        msg = (
            "--xling-param=text_in=english reads answers in English: name who translates them with "
            "--xling-translator=MODEL"
        )
        raise ConfigError(msg)
    return roles


def check_role(roles: Mapping[Role, Sequence[Provider]], role: Role, needed_by: str) -> None:
    """Check that somebody has *role* who can be asked what *needed_by* needs.

    Raises:
        ConfigError: nobody has, or one who cannot.
    """
    option = "--xling-search=NAME" if role == "search" else f"--xling-{role}=MODEL"
    if role not in roles:
        msg = f"{needed_by!r} asks a {role}: name one with {option}"
        raise ConfigError(msg)
    for provider in roles[role]:
        if not getattr(provider, "answers_prompts", True):
            msg = (
                f"{needed_by!r} asks a {role}, and {provider.name!r} has only answers that are"
                f" stored already: name another {role} with {option}"
            )
            raise ConfigError(msg)
        if role == "judge" and provider.style == "translation":
            msg = (
                f"{needed_by!r} asks a judge, and this one can only translate: give another"
                f" {option}"
            )
            raise ConfigError(msg)


def check_translates(translator: Provider, ways: Iterable[tuple[str, str]]) -> None:
    """Check what a translator knows of itself before it is asked.

    Args:
        translator: any; most know nothing.
        ways: pairs of codes, from which language into which.

    Raises:
        ConfigError: it lacks one of them.
    """
    if isinstance(translator, Translating):
        for source, target in ways:
            if why := translator.why_not(source, target):
                msg = f"--xling-translator: {why}"
                raise ConfigError(msg)


def make_models(
    settings: Settings,
    provider: Provider,
    others: Mapping[Role, Sequence[Provider]],
    *,
    model: str,
    executor: Executor,
    workers: int = 1,
) -> tuple[Client, dict[Role, list[Client]]]:
    """Return who asks the model under test and the others, each within its limits.

    They share one budget; a model with two roles is asked within one limit.

    Args:
        settings: of the run.
        provider: of the model under test.
        others: who judges, translates and searches.
        model: the name of the model under test.
        executor: of the run; moves models that would run here.
        workers: how many processes share the limits.
    """
    for each in (provider, *chain.from_iterable(others.values())):
        executor.place(each)
    # Each process minds its own share, so that all together keep within the cap.
    allowed_usd = settings.max_cost_usd
    budget = Budget(None if allowed_usd is None else allowed_usd / workers)

    def client(provider: Provider, name: str, price_name: str) -> Client:
        return Client(
            provider,
            _asked_name(name),
            slots=Slots(
                connections(settings, provider, workers=workers),
                first=FIRST_REQUESTS if provider.paid else None,
            ),
            patience=Patience(name, patience_s=patience_for(settings.timeout_s)),
            account=_account(settings, provider, price_name, budget),
            batch_wait_s=settings.batch_wait_s,
        )

    clients = {id(provider): client(provider, model, settings.model)}
    roles: dict[Role, list[Client]] = {}
    named = [each for role in others for each in named_roles(settings) if each[0] == role]
    asked = chain.from_iterable(others.values())
    for (role, name), other in zip(named, asked, strict=True):
        if id(other) not in clients:
            clients[id(other)] = client(other, name, name)
        roles.setdefault(role, []).append(clients[id(other)])
    return clients[id(provider)], roles


def connections(settings: Settings, provider: Provider, *, workers: int) -> int:
    """Return how many requests one of *workers* processes may have in flight with *provider*."""
    allowed = settings.max_connections or provider.max_connections
    return max(1, min(allowed, provider.max_connections) // workers)


def price_paid(
    provider: Provider | type[Provider], price: tuple[float, float]
) -> tuple[float, float]:
    """Return what is paid for tokens in and out where their list price is *price*.

    Args:
        provider: who is paid, or its class.
        price: US dollars per million tokens, as is what is returned.
    """
    share = provider.price_share if isinstance(provider, Batching) else 1.0
    return share * price[0], share * price[1]


def _account(
    settings: Settings, provider: Provider, price_name: str, budget: Budget
) -> Account | None:
    """Return what may be spent on *provider* out of *budget*; None where nothing costs.

    *price_name* is what an option calls it, by which its price is known.
    """
    price = settings.price_of(price_name) if provider.paid else None
    if price is None:
        return None
    price_in, price_out = price_paid(provider, price) if isinstance(price, tuple) else (0.0, 0.0)
    request_usd = 0.0 if isinstance(price, tuple) else price / 1e3
    first_usd = (FIRST_PROMPT_TOKENS * price_in + settings.max_tokens * price_out) / 1e6
    return Account(
        budget, price_in, price_out, first_usd=first_usd + request_usd, request_usd=request_usd
    )
