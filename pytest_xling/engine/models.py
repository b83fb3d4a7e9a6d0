"""Make the models that take part: the model under test, a judge, a translator."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from pytest_xling import registry
from pytest_xling.engine.breaker import Breaker
from pytest_xling.engine.limits import AdaptiveLimit, CostCap
from pytest_xling.engine.making import Making
from pytest_xling.engine.parties import Party
from pytest_xling.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_xling.config.settings import Settings
    from pytest_xling.interfaces.annotator import Role
    from pytest_xling.interfaces.provider import Provider

__all__ = [
    "connections",
    "make_making",
    "make_parties",
    "make_provider",
    "make_roles",
    "provider_of",
]

FIRST_REQUESTS = 4
"""Requests in flight until one was answered, of each process: a wrong key makes no more."""
SHORTEST_MISSPELT, MISSPELT = 6, 0.8
"""Letters of a provider's name, and the likeness to it (0 to 1), from which another is a slip."""
FIRST_PROMPT_TOKENS = 200
"""What a prompt is reckoned to hold until one has been counted."""


def make_provider(settings: Settings) -> Provider:
    """Return the provider ``--model`` names: ``NAME``, ``NAME:SPEC``, or a model for ``openai``."""
    return _provider(settings, settings.model, price=settings.price, option="--xling-price")


def _asked_name(model: str) -> str:
    """Return the name by which its provider knows a model: without the provider's."""
    name, _, spec = model.partition(":")
    return spec if name in registry.names("provider") and spec else model


def make_making(settings: Settings) -> Making:
    """Return what metrics and annotators are made with.

    Raises:
        ConfigError: a parameter belongs to none of them.
    """
    making = Making(
        common={
            "device": settings.device,
            "encoder": settings.encoder,
            "seed": settings.seed,
            "stance": settings.stance,
            "text_in": settings.text_in,
        },
        own=settings.parameters,
    )
    making.check()
    return making


def _provider(
    settings: Settings, model: str, *, price: tuple[float, float] | None, option: str
) -> Provider:
    name, spec = provider_of(model)
    make = registry.load("provider", name)
    provider: Provider = make(spec, timeout_s=settings.timeout_s, device=settings.device)
    if settings.max_cost_usd is not None and provider.paid and price is None:
        msg = (
            f"--xling-max-cost needs the price of {model!r} to know when to stop: give it in US "
            f"dollars per million tokens, in and out, such as {option}=2.5,10"
        )
        raise ConfigError(msg)
    return provider


def provider_of(model: str) -> tuple[str, str]:
    """Return a model's provider and what it is called there.

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
    if close := get_close_matches(lower, words, n=1, cutoff=MISSPELT):
        meant = close[0] + model[len(name) :]
        msg = (
            f"{model!r}: there is no provider {name!r}. Did you mean {meant!r}? A server's model "
            f"of that very name is 'openai:{model}'"
        )
        raise ConfigError(msg)
    return "openai", model


def make_roles(settings: Settings, tested: Provider) -> dict[Role, Provider]:
    """Return the judge and the translator, checked."""
    roles: dict[Role, Provider] = {}
    named: tuple[tuple[Role, str | None, tuple[float, float] | None], ...] = (
        ("judge", settings.judge or settings.model, settings.judge_price),
        ("translator", settings.translator, settings.translator_price),
    )
    # One model is one provider, whatever parts it has and however it is named.
    made = {provider_of(settings.model): tested}
    for role, model, price in named:
        if model is None:
            continue
        key = provider_of(model)
        if key not in made:
            made[key] = _provider(settings, model, price=price, option=f"--xling-{role}-price")
            made[key].check()
        roles[role] = made[key]
    if settings.text_in == "english" and "translator" not in roles:
        msg = (
            "--xling-text-in=english reads answers in English: name who translates them with "
            "--xling-translator=MODEL"
        )
        raise ConfigError(msg)
    return roles


def make_parties(
    settings: Settings,
    provider: Provider,
    others: Mapping[Role, Provider],
    *,
    model: str,
    workers: int = 1,
) -> tuple[Party, dict[Role, Party]]:
    """Return the model under test and the others, each with its limits.

    All spend from one purse, and who has two parts is asked within one limit.

    Args:
        settings: of the run.
        provider: of the model under test.
        others: who judges and translates.
        model: the name of the model under test.
        workers: how many processes share the limits.
    """
    tested = Party(
        provider=provider,
        model=_asked_name(model),
        limit=_limit(settings, provider, model, workers=workers),
        cap=_cap(settings, provider, settings.price, workers=workers, beside=None),
    )
    named = {
        "judge": (settings.judge, settings.judge_price),
        "translator": (settings.translator, settings.translator_price),
    }
    roles: dict[Role, Party] = {}
    parties, purse = {id(provider): tested}, tested.cap
    for role, other in others.items():
        if id(other) not in parties:
            name, price = named[role]
            cap = _cap(settings, other, price, workers=workers, beside=purse)
            purse = purse or cap
            asked = name or model
            parties[id(other)] = Party(
                provider=other,
                model=_asked_name(asked),
                limit=_limit(settings, other, asked, workers=workers),
                cap=cap,
            )
        roles[role] = parties[id(other)]
    return tested, roles


def connections(settings: Settings, provider: Provider, *, workers: int) -> int:
    """Return how many requests one of *workers* processes may have in flight with *provider*."""
    allowed = settings.max_connections or provider.max_connections
    return max(1, min(allowed, provider.max_connections) // workers)


def _limit(settings: Settings, provider: Provider, model: str, *, workers: int) -> AdaptiveLimit:
    """Return how many requests may be in flight, and for how long they may go unanswered."""
    return AdaptiveLimit(
        connections(settings, provider, workers=workers),
        first=FIRST_REQUESTS if provider.paid else None,
        breaker=Breaker(model, patience_s=settings.patience_s),
    )


def _cap(
    settings: Settings,
    provider: Provider,
    price: tuple[float, float] | None,
    *,
    workers: int,
    beside: CostCap | None,
) -> CostCap | None:
    """Return what may be spent on *provider*, together with those *beside* it."""
    if price is None or not provider.paid:
        return None
    price_in, price_out = price
    first_usd = (FIRST_PROMPT_TOKENS * price_in + settings.max_tokens * price_out) / 1e6
    if beside is not None:
        return beside.beside(price_in, price_out, first_usd=first_usd)
    allowed_usd = settings.max_cost_usd
    # Each process minds its own share, so that all together keep within the cap.
    share_usd = None if allowed_usd is None else allowed_usd / workers
    return CostCap(share_usd, price_in, price_out, first_usd=first_usd)
