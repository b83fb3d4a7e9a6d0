"""The provider serper against a real server that speaks as Serper does, and misbehaves."""

from __future__ import annotations

import json
import logging
import traceback
from typing import TYPE_CHECKING, Any

import pytest

from pytest_xling.errors import (
    ConfigError,
    PermanentFault,
    ProviderFault,
    RateLimited,
    TransientFault,
)
from pytest_xling.interfaces.search import SearchResult, results_of
from pytest_xling.providers.serper import LONGEST_QUERY, SerperProvider
from pytest_xling.providers.serper.results import read_results
from tests.providers import asking
from tests.servers.serper import serving_serper

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_xling.keys import JsonValue
    from pytest_xling.records import Request, Response
    from tests.servers.serper import SerperServer

_KEY = "9f3c1e77T0tallySecret5b2a"
_PAGE = {
    "title": "Bread",
    "link": "https://bread.test/",
    "snippet": "Yeast makes gas.",
    "position": 1,
}


@pytest.fixture
def server() -> Iterator[SerperServer]:
    """Give a server that finds a dozen pages."""
    with serving_serper(
        lambda query: [{**_PAGE, "title": f"{query} {n}"} for n in range(12)]
    ) as it:
        yield it


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SERPER_API_KEY", _KEY)


def _request(query: str = "Why?", **params: JsonValue) -> Request:
    return asking.request(query, params=params)


def _search(url: str, request: Request | str = "Why?") -> Response:
    """Search once."""
    asked = _request(request) if isinstance(request, str) else request
    return asking.ask(SerperProvider(url, timeout_s=5.0), asked)[0]


def test_a_search(server: SerperServer) -> None:
    """The query goes out with the key; the best ten come back."""
    results = results_of(_search(server.url, "रोटी क्यों फूलती है?"))
    assert [f"रोटी क्यों फूलती है? {n}" for n in range(10)] == [result.title for result in results]
    assert ("Yeast makes gas.", "https://bread.test/") == (results[0].text, results[0].url)
    (search,) = server.searches
    assert {"q": "रोटी क्यों फूलती है?", "num": 10} == search.body
    assert _KEY == search.headers["x-api-key"]
    assert "application/json" == search.headers["content-type"]


def test_a_server_on_this_machine_needs_no_key(
    server: SerperServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And is sent none; fewer results are asked for with ``results`` among the params."""
    monkeypatch.delenv("SERPER_API_KEY")
    found = asking.ask(SerperProvider(server.url), _request("Who?"), _request(results=3))
    assert [10, 3] == [len(results_of(each)) for each in found]
    assert {"q": "Why?", "num": 3} == server.searches[1].body
    assert not [search for search in server.searches if "x-api-key" in search.headers]


def test_what_google_knows_comes_first(server: SerperServer) -> None:
    """Its answer, then its panel, then pages: ten of all."""
    server.beside = {
        "answerBox": {
            "title": "Yeast / Food",
            "answer": "Fungus",
            "snippet": "Yeast is a fungus.",
            "link": "https://a.test/",
        },
        "knowledgeGraph": {
            "title": "Yeast",
            "type": "Fungi",
            "description": "Yeasts are single-celled.",
            "descriptionLink": "https://k.test/",
            "attributes": {"Kingdom": "Fungi", "Rank": None},
        },
        "peopleAlsoAsk": [{"question": "Is it alive?", "snippet": "Yes."}],
    }
    results = results_of(_search(server.url))
    assert 10 == len(results)
    box, graph, page = results[:3]
    assert box == SearchResult(
        title="Yeast / Food", text="Fungus — Yeast is a fungus.", url="https://a.test/"
    )
    assert graph == SearchResult(
        title="Yeast",
        text="Fungi — Yeasts are single-celled. — Kingdom: Fungi",
        url="https://k.test/",
    )
    assert "Why? 0" == page.title


_BOLD = {"answerBox": {"title": "T", "snippetHighlighted": ["one", "two"]}}


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ({"organic": []}, []),
        ({"organic": [], "answerBox": {"title": "T"}, "knowledgeGraph": {"title": "T"}}, []),
        (_BOLD, [("T", "one — two", "")]),
        (_BOLD | {"organic": None}, [("T", "one — two", "")]),
        (
            {"organic": [_PAGE | {"date": "3 Mar 2021"}]},
            [("Bread", "3 Mar 2021 — Yeast makes gas.")],
        ),
        ({"organic": [{"title": "Only a title"}]}, [("Only a title", "", "")]),
        ({"organic": [{"link": "https://empty.test/"}, "odd", _PAGE]}, [("Bread",)]),
        ({"organic": [_PAGE | {"snippet": 7, "title": "a \ud800"}]}, [("a \ufffd", "")]),
    ],
)
def test_replies_of_all_kinds(reply: dict[str, Any], expected: list[tuple[str, ...]]) -> None:
    """No results are an answer; what has no word, or is no text, is left out."""
    results = read_results(json.dumps(reply).encode(), url="http://it")
    shown = [(result.title, result.text, result.url) for result in results]
    assert [tuple(row) for row in expected] == [
        row[: len(wanted)] for row, wanted in zip(shown, expected, strict=True)
    ]


@pytest.mark.parametrize(
    "reply",
    [
        [],
        "results",
        {},
        {"organic": None},
        {"organic": {"title": "Bread"}},
        {"organic": [{"name": "Bread", "content": "of another engine"}]},
        {"answerBox": {"title": "T"}, "results": []},
        {"message": "Something broke."},
    ],
)
def test_what_is_not_of_the_form_is_no_empty_answer(reply: object) -> None:
    """Else a claim would be called unsupported for a server's fault."""
    with pytest.raises(TransientFault, match="http://it sent JSON that holds no results"):
        read_results(json.dumps(reply).encode(), url="http://it")


@pytest.mark.parametrize(
    ("fault", "kind", "said"),
    [
        ("400", PermanentFault, "answered 400: 'Missing query parameter'$"),
        ("401", PermanentFault, "SERPER_API_KEY is missing, wrong"),
        ("403", PermanentFault, "answered 403: 'Unauthorized.'. The key in SERPER_API_KEY"),
        ("404", PermanentFault, "Is --xling-search=serper:URL the whole address"),
        ("429", RateLimited, "Rate limit exceeded"),
        ("500", TransientFault, "answered 500: 'Internal server error.'"),
        ("close", TransientFault, "the connection to .* broke"),
        ("credits", PermanentFault, "no credit left"),
        ("error", TransientFault, "holds no results: .*Something broke"),
        ("half_json", TransientFault, "not whole JSON"),
        ("html", TransientFault, "web page instead of JSON.*ends in /search"),
        ("html502", TransientFault, "answered 502"),
        ("307", PermanentFault, "redirects to https://else.test/search, which is not followed"),
        ("empty", TransientFault, "empty reply"),
    ],
)
def test_faults_of_all_kinds(
    server: SerperServer, fault: str, kind: type[ProviderFault], said: str
) -> None:
    """Each has its class, says what happened and where, once."""
    server.replies.append(fault)
    with pytest.raises(ProviderFault, match=said) as caught:
        _search(server.url)
    assert kind is caught.type
    assert server.url in str(caught.value)
    assert 1 == len(server.searches)
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    if isinstance(caught.value, PermanentFault):
        assert (fault != "400") == caught.value.every_request


@pytest.mark.parametrize(
    ("fault", "retry_after", "wait_s"),
    [("429", "0.05", 0.05), ("429", "", None), ("503", "0.05", 0.05), ("500", "0.05", None)],
)
def test_retry_after_is_read(fault: str, retry_after: str, wait_s: float | None) -> None:
    """None where the server says nothing."""
    with serving_serper(retry_after=retry_after) as server:
        server.replies.append(fault)
        with pytest.raises((RateLimited, TransientFault)) as caught:
            _search(server.url)
    assert wait_s == getattr(caught.value, "retry_after_s", ...)


@pytest.mark.parametrize(
    ("claim", "length", "end"),
    [
        ("Yeast makes the dough rise. " * 179, 2_043, "the dough rise."),
        ("खमीर आटे को फुलाता है। " * 220, 2_046, "है।"),
        ("酵母使面团膨胀。" * 625, 2_048, "膨胀。"),
        ("y" * 5_000, 2_048, "y"),
    ],
)
def test_a_claim_of_5000_characters_is_cut_at_a_word(
    server: SerperServer, claim: str, length: int, end: str
) -> None:
    """Its first 2,048, less what would be half a word; its key is of the whole."""
    assert len(claim) >= 5_000
    assert 10 == len(results_of(_search(server.url, claim)))
    query = server.searches[0].query
    assert claim.startswith(query)
    assert query.endswith(end)
    assert length == len(query) <= LONGEST_QUERY
    assert claim == SerperProvider(server.url).identify(_request(claim))["query"]


@pytest.mark.parametrize(
    "mode", ["key_403", "key_500", "key_html", "key_half", "key_error", "key_redirect", "close"]
)
def test_no_key_is_shown(server: SerperServer, caplog: pytest.LogCaptureFixture, mode: str) -> None:
    """Whatever repeats it: neither message, traceback nor log has it."""
    caplog.set_level(logging.DEBUG)
    server.replies.append(mode)
    with pytest.raises(ProviderFault) as caught:
        _search(server.url)
    shown = "".join(traceback.format_exception(caught.value)) + caplog.text
    assert "T0tallySecret" not in shown
    assert _KEY == server.searches[0].headers["x-api-key"]


@pytest.mark.parametrize(
    ("said", "specs"),
    [
        (
            r"set SERPER_API_KEY \(https://serper.dev has keys",
            ["", "https://search.test/serper", "http://192.168.0.7/search"],
        ),
        (
            r"search=serper:URL is not .*google\.serper\.dev",
            ["s.test/search", "ftp://s.test/", "https://", "http://[::1", "http://h:port"],
        ),
    ],
)
def test_mistakes_are_found_before_anything_is_asked(
    monkeypatch: pytest.MonkeyPatch, said: str, specs: list[str]
) -> None:
    """No key for a server that is not on this machine, and an address that cannot be read."""
    monkeypatch.delenv("SERPER_API_KEY")
    for spec in specs:
        with pytest.raises(ConfigError, match=said):
            SerperProvider(spec).check()


@pytest.mark.parametrize(
    "spec",
    ["https://user:s3cret@search.test/s", "https://s3cret@search.test", "http://s/?k=s3cret"],
)
def test_an_address_holds_no_credentials(spec: str) -> None:
    """Reports show it; the message says where a key belongs, and nothing shows a secret."""
    provider = SerperProvider(spec)
    with pytest.raises(ConfigError, match="put the key into SERPER_API_KEY") as caught:
        provider.check()
    shown = f"{caught.value} {provider.identify(_request())} {vars(provider)}"
    assert not [secret for secret in ("s3cret", "T0tallySecret") if secret in shown]


def test_an_address_the_client_refuses_is_a_fault_of_every_search() -> None:
    """What no check sees beforehand."""
    with pytest.raises(PermanentFault, match="not a usable address") as caught:
        _search("http://\N{SNOWMAN}.test/search")
    assert caught.value.every_request


def test_what_a_search_depends_on(server: SerperServer) -> None:
    """Query, number and address; a slash at its end and Serper's own address make no difference."""
    first = SerperProvider().identify(_request())
    assert first == SerperProvider("https://google.serper.dev/search/").identify(_request())
    assert first != SerperProvider().identify(_request("Who?"))
    assert first != SerperProvider().identify(_request(results=3))
    assert first != SerperProvider(server.url).identify(_request())
    assert ("search", True) == (SerperProvider.style, SerperProvider.paid)
