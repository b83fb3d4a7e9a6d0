"""Where a store is, and what is shown of it."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_xling.config.store_location import ServerUrl
from pytest_xling.config.values import store


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://h/db", "postgresql://h/db"),
        ("postgres://u@h:5432/db", "postgres://u@h:5432/db"),
        ("postgresql://u:p@h/db", "postgresql://u:***@h/db"),
        ("postgresql://u:@h", "postgresql://u:***@h"),
        ("postgresql://:p@/db?host=/run", "postgresql://:***@/db?host=/run"),
        ("postgresql://h/db?user=u&password=p", "postgresql://h/db?user=u&password=***"),
        ("postgresql://h/db?pass%77ord=p&a=b", "postgresql://h/db?pass%77ord=***&a=b"),
        ("postgresql://h?oauth_client_secret=p", "postgresql://h?oauth_client_secret=***"),
        ("postgresql://u:p@h1:1,h2:2/db", "postgresql://u:***@h1:1,h2:2/db"),
        ("postgresql://[::1]:5432/db", "postgresql://[::1]:5432/db"),
    ],
)
def test_urls_are_shown_without_secrets(url: str, shown: str) -> None:
    """As text, in formatted text and among the values of variables."""
    parsed = store(f" {url}\n")
    assert shown == str(parsed) == f"{parsed}" == repr(parsed)
    assert ServerUrl(url) == parsed


TEXTS = st.text(st.characters(exclude_characters="\0"), min_size=1)  # libpq takes no NUL


@given(password=TEXTS, user=TEXTS)
def test_no_password_comes_through(password: str, user: str) -> None:
    """Whatever is in it, once it is written as URLs have it."""
    try:
        written = quote(password, safe="")
    except UnicodeEncodeError:
        return
    url = ServerUrl.parse(
        f"postgresql://{quote(user.encode('utf-8', 'replace'), safe='')}x:{written}@h/db"
    )
    assert str(url).endswith("x:***@h/db")
    assert str(url) == url.without_secrets(url.full)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:se/cret@h/db",
        "postgresql://u:se@cret@h/db",
        "postgresql://u:se?cret@h/db",
        "postgresql://u:secret%@h/db",
        "postgresql://u:se cret@h/db",
        "mysql://u:secret@h/db",
        "sqlite:///secret.sqlite",
        "postgresql://u:%00secret@h/db",
        "postgresql:/u:secret@h/db",
        "postgres:u:secret@h/db",
        "host=h dbname=db user=u password=secret",
    ],
)
def test_what_is_wrong_is_told_without_the_url(url: str) -> None:
    """It may have the password anywhere."""
    refusals = r"must be written in another way|is no store|by its URL"
    with pytest.raises(ValueError, match=refusals) as told:
        store(url)
    assert "cret" not in str(told.value)


def test_a_search_path_is_written_as_libpq_wants_it() -> None:
    """It takes one = in a pair, and people write two."""
    url = ServerUrl.parse("postgresql://u:p@h/db?options=-csearch_path=team&sslmode=require")
    assert url.conninfo.endswith("/db?options=-csearch_path%3Dteam&sslmode=require")


def test_all_else_is_a_path() -> None:
    """Also one that looks odd."""
    for text in ("s.sqlite", "postgresql", "C:/x", "a@b:c", "postgresql-x"):
        assert Path(text) == store(text)
