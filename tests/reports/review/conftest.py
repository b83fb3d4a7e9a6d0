"""A headless browser, where there is one, and the command on a store of its own."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.conftest import Xling

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, BrowserContext, Page

_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Call what needs a browser slow: opening a page takes a second of CPU time."""
    for item in items:
        if isinstance(item, pytest.Function) and "browser" in item.fixturenames:
            item.add_marker("slow")


@pytest.fixture
def xling(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Xling:
    """The command on the store ``s.sqlite`` of the test's own folder, where it stands."""
    for name in ("XLING_STORE", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    return Xling(tmp_path / "s.sqlite", capsys)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless Chromium of the system's.

    While it is open this thread has a running event loop: other tests could not have theirs.
    """
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = next((found for name in _BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip("there is no Chromium; Debian's package `chromium` has one")
    with sync_api.sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield made
        made.close()


@dataclass
class Rater:
    """A person in front of a page; what went wrong there is kept."""

    page: Page
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def open(self, path: Path) -> None:
        """Open the page, and wait for its first item."""
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("h2, .empty")

    def press(self, *keys: str) -> None:
        """Press keys, one after another."""
        for key in keys:
            self.page.keyboard.press(key)

    @property
    def case(self) -> str:
        """The case that is shown."""
        return self.page.inner_text(".case")

    def is_told(self, text: str) -> None:
        """Wait until the page says *text*, which the page's policy lets no script do."""
        self.page.locator("#message").filter(has_text=text).wait_for(timeout=60_000)

    def save(self, path: Path) -> dict[str, Any]:
        """Save the labels to *path*, and return them."""
        with self.page.expect_download() as download:
            self.page.click("#save")
        download.value.save_as(path)
        read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return read


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser's profile of its own."""
    made = browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
    yield made
    made.close()


@pytest.fixture
def rater(context: BrowserContext) -> Iterator[Rater]:
    """A person at a page, who must meet no error and no request but for the page itself."""
    made = Rater(page=context.new_page())
    made.page.on(
        "console",
        lambda said: made.errors.append(said.text) if said.type in {"error", "warning"} else None,
    )
    made.page.on("pageerror", lambda error: made.errors.append(str(error)))
    made.page.on("request", lambda request: made.requests.append(request.url))
    yield made
    assert [] == made.errors
    assert [] == [url for url in made.requests if not url.startswith(("file:", "blob:"))]
