"""The HTML report at thousands of cases: its size, how long it takes to write, open and use.

    python perf/html_report.py [--cases 5000 20000]

Claims in ten languages at five levels, answers of about 700 characters with translations, 13
metrics, 49 gates. What is measured in the page runs in headless Chromium, where there is one, with
no pause between steps: a filter, a search, and a key in the list are each timed from the event to
the finished layout.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pytest_xling.reports.html.page import write_report
from pytest_xling.reports.run_summary import run_summary
from pytest_xling.store.database import Database
from tests.reports.html.made_run import SENTENCES, MadeRun, make_run

LEVELS = 5
USE = """
() => {
  const timed = (step) => {
    const start = performance.now();
    step();
    document.body.getBoundingClientRect();
    return performance.now() - start;
  };
  const choose = (id, value) => timed(() => {
    const input = document.getElementById(id);
    input.value = value;
    input.dispatchEvent(new Event("change"));
  });
  const list = document.getElementById("list");
  const down = () => new KeyboardEvent("keydown", { key: "ArrowDown" });
  const key = () => timed(() => list.dispatchEvent(down()));
  const result = {
    filter: Math.max(choose("by-outcome", "flagged"), choose("by-language", "hi"),
      choose("by-outcome", ""), choose("by-language", "")),
    key: Math.max(...Array.from({ length: 50 }, key)),
    heap: performance.memory ? performance.memory.usedJSHeapSize / 1e6 : 0,
  };
  document.getElementById("by-text").value = "संक्रमण";
  result.search = choose("by-language", "");
  return result;
}
"""


def used(file: Path) -> dict[str, float] | None:
    """Open *file* in Chromium and return how long things took; None where there is no Chromium."""
    chromium = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415  may not be installed
    except ImportError:
        return None
    if chromium is None:
        return None
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.goto("about:blank")
        start = time.perf_counter()
        page.goto(file.as_uri())
        opened = time.perf_counter() - start
        result: dict[str, float] = page.evaluate(USE)
        browser.close()
    return {"open": 1000 * opened, **result}


def main() -> None:
    """Write and open reports of growing size."""
    parser = argparse.ArgumentParser(description="The HTML report at thousands of cases.")
    parser.add_argument("--cases", type=int, nargs="+", default=[5000, 20_000])
    arguments = parser.parse_args()
    heads = ("cases", "write s", "MB", "open ms", "filter ms", "key ms", "search ms", "heap MB")
    print(" ".join(f"{head:>9}" for head in heads))
    for cases in arguments.cases:
        with tempfile.TemporaryDirectory() as name:
            claims = cases // (LEVELS * len(SENTENCES))
            made = MadeRun(claims=claims, sentences=8, hostile=False)
            database = Database(make_run(Path(name) / "store.sqlite", made))
            start = time.perf_counter()
            with database.read() as connection:
                file = write_report(
                    connection, run_summary(connection, "latest"), Path(name) / "report.html"
                )
            took = time.perf_counter() - start
            database.close()
            megabytes = file.stat().st_size / 1e6
            found = used(file)
        row = f"{cases:>9,} {took:>9.2f} {megabytes:>9.1f}"
        if found is None:
            print(f"{row}   no Chromium: apt-get install chromium, pip install playwright")
        else:
            keys = ("open", "filter", "key", "search", "heap")
            print(row, *(f"{found[key]:>9.0f}" for key in keys), flush=True)


if __name__ == "__main__":
    main()
