"""Read what Serper found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_xling.errors import TransientFault
from pytest_xling.http.reply import excerpt, objects_at, read_json, value_at
from pytest_xling.interfaces.search import SearchResult
from pytest_xling.text.display import clean

if TYPE_CHECKING:
    from collections.abc import Mapping


def read_results(body: bytes, *, url: str) -> list[SearchResult]:
    """Return the results in *body*, the reply of *url*, best first.

    Those without a word are left out. What else Serper sends (questions others asked, related
    searches, news, places) is no result.

    Raises:
        TransientFault: it is not of Serper's form: HTML, cut short, without results.
    """
    reply = read_json(body, url=url, ends="/search")
    box, graph = value_at(reply, "answerBox"), value_at(reply, "knowledgeGraph")
    known = [_of_box(box)] if isinstance(box, dict) else []
    known += [_of_graph(graph)] if isinstance(graph, dict) else []
    results = [result for result in known if result.text]
    pages = value_at(reply, "organic")
    if isinstance(pages, list):
        listed = map(_of_page, objects_at(pages))
        readable = [result for result in listed if result.title or result.text]
        if readable or not pages:
            return results + readable
    elif results:
        return results
    raise _not_results(reply, url)


def _of_box(box: Mapping[str, Any]) -> SearchResult:
    """Return Google's own answer: a few words, the passage they are from, or what is bold in it."""
    bold = box.get("snippetHighlighted")
    return SearchResult(
        title=_text(box.get("title")),
        text=_joined(box.get("answer"), box.get("snippet"))
        or _joined(*(bold if isinstance(bold, list) else ())),
        url=_text(box.get("link")),
    )


def _of_graph(graph: Mapping[str, Any]) -> SearchResult:
    """Return what Google knows of somebody or something: what it is, in words and in figures."""
    attributes = graph.get("attributes")
    facts = attributes.items() if isinstance(attributes, dict) else ()
    return SearchResult(
        title=_text(graph.get("title")),
        text=_joined(
            graph.get("type"),
            graph.get("description"),
            *(f"{name}: {value}" for name, value in facts if _text(value)),
        ),
        url=_text(graph.get("descriptionLink")) or _text(graph.get("website")),
    )


def _of_page(page: Mapping[str, Any]) -> SearchResult:
    """Return a page; where its date is known it stands before its snippet."""
    return SearchResult(
        title=_text(page.get("title")),
        text=_joined(page.get("date"), page.get("snippet")),
        url=_text(page.get("link")),
    )


def _joined(*parts: object) -> str:
    """Return the texts among *parts* with a dash between, as Google shows dates and snippets."""
    return " — ".join(filter(None, map(_text, parts)))


def _text(value: object) -> str:
    return clean(value).strip() if isinstance(value, str) else ""


def _not_results(reply: object, url: str) -> TransientFault:
    return TransientFault(f"{url} sent JSON that holds no results: {excerpt(str(reply))!r}")
