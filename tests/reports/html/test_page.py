"""The file itself: closed to the network, inert, and whole."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_xling.errors import ConfigError
from pytest_xling.reports.html import page
from pytest_xling.reports.html.page import SCRIPTS, render, write_report
from pytest_xling.reports.offline import embedded
from pytest_xling.reports.run_summary import run_summary

if TYPE_CHECKING:
    from sqlalchemy import Connection

ASSETS = Path(page.__file__).parent


class Parts(HTMLParser):
    """What a browser would see of a page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag."""
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        """Note the text of scripts and styles."""
        tag, attributes = self.tags[-1] if self.tags else ("", {})
        if tag in {"script", "style"} and data.strip():
            self.texts.append((attributes.get("type") or tag, data))


@given(st.recursive(st.text(), lambda inner: st.lists(inner, max_size=3), max_leaves=6))
def test_embedded_json_holds_no_markup(value: Any) -> None:  # noqa: ANN401  any JSON
    """No text can end the script or open a comment, and all of it comes back."""
    text = embedded({"value": value})
    assert not re.search("[<>&\u2028\u2029]", text)
    assert {"value": value} == json.loads(text)


def test_lone_surrogates_are_mended() -> None:
    """What no file can hold does not break the page."""
    text = embedded({"a": "\ud800", "b": "\ud83d\ude00"})
    text.encode()
    assert {"a": "\ufffd", "b": "😀"} == json.loads(text)


def test_not_a_number_is_refused() -> None:
    """NaN is no JSON, and no score either."""
    with pytest.raises(ValueError, match="JSON compliant"):
        embedded({"a": float("nan")})


def test_a_page_has_one_script_and_its_data(model: dict[str, Any]) -> None:
    """Hostile answers add no element: one style, one block of data, one script."""
    parts = Parts(render(model))
    assert ["style", "application/json", "script"] == [kind for kind, _ in parts.texts]
    assert not [tag for tag, _ in parts.tags if tag in {"img", "iframe", "object", "b", "i"}]
    assert model == json.loads(dict(parts.texts)["application/json"])


def test_the_policy_lets_nothing_else_run(model: dict[str, Any]) -> None:
    """The content security policy names just the hashes of the page's own style and script."""
    parts = Parts(render(model))
    (policy,) = [
        attributes["content"]
        for tag, attributes in parts.tags
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    texts = dict(parts.texts)
    hashes = {
        kind: "sha256-" + base64.b64encode(hashlib.sha256(texts[kind].encode()).digest()).decode()
        for kind in ("script", "style")
    }
    assert policy == (
        f"default-src 'none'; script-src '{hashes['script']}'; style-src '{hashes['style']}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def test_a_page_refers_to_nothing_elsewhere(model: dict[str, Any]) -> None:
    """No element loads anything, and the only address is the name of SVG."""
    parts = Parts(render(model))
    loads = [v for _, a in parts.tags for k, v in a.items() if k in {"src", "href", "srcset"}]
    assert ["data:,", "#main"] == loads
    own = "".join(text for kind, text in parts.texts if kind != "application/json")
    assert {"http://www.w3.org/2000/svg"} == set(re.findall(r"\w+://[^\s\"']+", own))
    assert not re.search(r"@import|url\(", own)


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_never_read_markup(name: str) -> None:
    """No script makes elements, or code, of texts."""
    text = (ASSETS / name).read_text(encoding="utf-8")
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\b"
    assert not re.search(forbidden + r"|new Function|setHTML|createContextualFragment|srcdoc", text)


def test_every_script_is_in_the_page() -> None:
    """No script is left lying about."""
    assert set(SCRIPTS) == {path.name for path in ASSETS.glob("*.js")}


def test_a_report_is_written_whole(story: Connection, tmp_path: Path) -> None:
    """Folders are made, an older report is replaced, and nothing else is left."""
    file = tmp_path / "new" / "report.html"
    assert file == write_report(story, run_summary(story, "latest"), file)
    file.write_text("old", encoding="utf-8")
    write_report(story, run_summary(story, "run-1"), file)
    assert file.read_text(encoding="utf-8").endswith("</html>\n")
    assert [file] == list(file.parent.iterdir())


def test_a_file_that_cannot_be_written_is_named(story: Connection, tmp_path: Path) -> None:
    """A folder in the place of the file is the user's mistake, and says so."""
    with pytest.raises(ConfigError, match=r"cannot be written to .*: Is a directory; name another"):
        write_report(story, run_summary(story, "run-1"), tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="cannot be written"):
        write_report(story, run_summary(story, "run-1"), tmp_path / "file" / "report.html")
    assert [tmp_path / "file"] == list(tmp_path.iterdir())


def test_the_model_is_named_without_markup(model: dict[str, Any]) -> None:
    """The model's name stands in the title and in the heading as text."""
    text = render(model)
    assert "made-up &lt;b&gt;model&lt;/b&gt;</title>" in text
    assert "<h1>made-up &lt;b&gt;model&lt;/b&gt;</h1>" in text
