"""The documentation as a site: every page is in its navigation, and links between files hold."""

from __future__ import annotations

import importlib.util
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from ruamel.yaml import YAML

import pytest_xling.errors
from tests.docs.bench import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def hooks() -> ModuleType:
    """What mkdocs calls of ours."""
    pytest.importorskip("mkdocs")
    spec = importlib.util.spec_from_file_location("site_pages", DOCS / "site_pages.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _pages(nav: Any) -> Iterator[str]:  # noqa: ANN401  YAML
    """Yield the pages of a navigation and of its parts."""
    if isinstance(nav, str):
        yield nav
    else:
        for entry in nav.values() if isinstance(nav, dict) else nav:
            yield from _pages(entry)


def test_every_page_is_in_the_navigation_once(hooks: ModuleType) -> None:
    """Those of docs/, and those that lie elsewhere."""
    settings = YAML(typ="safe", pure=True).load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    config = SimpleNamespace(nav=settings["nav"])
    hooks.on_config(config)
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    assert sorted(pages | set(hooks.OUTSIDE)) == sorted(_pages(config.nav))


@pytest.mark.parametrize(
    ("page", "link", "expected"),
    [
        ("README.md", "[g](docs/guide.md#words)", "[g](guide.md#words)"),
        ("README.md", "[d](docs/adr/)", "[d](adr/README.md)"),
        ("stances.md", "[c](../benchmarks/health/README.md)", "[c](benchmarks/health.md)"),
        ("adr/0021-rooms.md", "[a](../architecture.md)", "[a](../architecture.md)"),
        ("adr/0021-rooms.md", "[c](../../CONTRIBUTING.md)", "[c](../CONTRIBUTING.md)"),
        ("benchmarks/health.md", "[s](../../docs/stances.md)", "[s](../stances.md)"),
        ("guide.md", "[code](../pytest_xling/plugin)", "code"),
        ("guide.md", "[gone](../nowhere.md)", "[gone](../nowhere.md)"),
        ("guide.md", "[out](https://example.org/a.md)", "[out](https://example.org/a.md)"),
    ],
)
def test_links_between_files_are_links_between_pages(
    hooks: ModuleType, page: str, link: str, expected: str
) -> None:
    """As they read on GitHub; what is no page becomes text, what is not there stays for mkdocs."""
    here = SimpleNamespace(file=SimpleNamespace(src_uri=page))
    assert expected == hooks.on_page_markdown(link, page=here)


def test_roles_in_docstrings_are_code(hooks: ModuleType) -> None:
    """Docstrings speak reStructuredText here and there, the site Markdown."""
    html = "<p>a :class:<code>~pytest_xling.records.Reading</code>, :meth:<code>read</code></p>"
    assert "<p>a <code>Reading</code>, <code>read</code></p>" == hooks.on_page_content(html)


def test_the_api_page_names_all_that_is_public() -> None:
    """Each name but those of errors, which have a page of their own."""
    text = (DOCS / "api" / "README.md").read_text(encoding="utf-8")
    public = {name: getattr(pytest_xling, name) for name in pytest_xling.__all__}
    errors = {n for n, v in public.items() if isinstance(v, type) and issubclass(v, Exception)}
    assert [] == sorted(n for n in public.keys() - errors if f"`xling.{n}`" not in text)
    assert errors <= vars(pytest_xling.errors).keys()
