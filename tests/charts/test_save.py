"""Charts as files: complete, self-contained, and safe whatever a study is called."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import threading
import time
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import altair as alt
import numpy as np
import pandas as pd
import pytest

from lawsmith.analysis import FitOptions, analyse
from lawsmith.charts import (
    ChartUnavailable,
    law,
    spec_of,
    write,
    write_all,
)
from lawsmith.charts.page import library, script_json
from lawsmith.errors import LawsmithError
from lawsmith.laws.catalogue import LC

from .answers import answered


def test_a_chart_of_more_than_5000_rows_is_drawn_and_altairs_limit_stays():
    frame = pd.DataFrame({"x": np.arange(6000.0)})
    chart = alt.layer(alt.Chart(frame).mark_point().encode(x="x:Q"))
    spec = spec_of(chart)
    assert len(next(iter(spec["datasets"].values()))) == 6000
    with pytest.raises(alt.MaxRowsError):
        chart.to_dict()


def test_threads_that_draw_at_once_leave_altairs_limit_as_it_was():
    """One enters while the other is inside, and leaves last: it must not restore the other's."""
    entered, left = threading.Event(), threading.Event()

    class First:
        def to_dict(self, *, validate: bool) -> dict[str, object]:
            entered.wait(0.3)  # in vain, as long as the other has to wait for this one
            return {}

    class Second:
        def to_dict(self, *, validate: bool) -> dict[str, object]:
            entered.set()
            left.wait(0.3)
            return {}

    def first() -> None:
        spec_of(First())
        left.set()

    before = dict(alt.data_transformers.options)
    threads = [threading.Thread(target=work) for work in (first, lambda: spec_of(Second()))]
    for thread in threads:
        thread.start()
        time.sleep(0.05)
    for thread in threads:
        thread.join()
    assert dict(alt.data_transformers.options) == before
    frame = pd.DataFrame({"x": np.arange(6000.0)})
    with pytest.raises(alt.MaxRowsError):
        alt.layer(alt.Chart(frame).mark_point().encode(x="x:Q")).to_dict()


ATTACK = "<script>alert(1)</script>"


class Tags(HTMLParser):
    """The tags of a page with their attributes, as a browser would see them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def specs_of(page: str) -> dict[str, dict]:
    return json.loads(re.search(r"const specs = (.*);\n", page)[1])


@pytest.fixture
def page(demo_compute, tmp_path) -> str:
    write(law(demo_compute), tmp_path, "law", formats=["html"])
    return (tmp_path / "law.html").read_text(encoding="utf-8")


def test_a_page_loads_nothing_from_outside(page):
    tags = Tags(page).found
    assert [tag for tag, _ in tags].count("script") == 2
    for tag, attributes in tags:
        assert not {"src", "href", "action", "srcset", "data"} & set(attributes), tag
    assert "<script src=" not in page
    assert "cdn" not in page
    assert "@import" not in page


def test_a_page_forbids_its_own_script_to_fetch(page):
    policy = next(a["content"] for t, a in Tags(page).found if "http-equiv" in a)
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy


def test_a_page_holds_the_wide_and_the_narrow_chart_and_every_theme(demo_compute, tmp_path):
    write_all(tmp_path, None, demo_compute, formats=["html"])
    text = (tmp_path / "law.html").read_text(encoding="utf-8")
    specs = specs_of(text)
    assert specs["wide"]["width"] > specs["narrow"]["width"]
    assert all("datasets" not in spec for spec in specs.values())  # held once, beside them
    configs = json.loads(re.search(r"const configs = (.*);\n", text)[1])
    assert set(configs) == {"light", "dark", "print"}


@pytest.mark.skipif(shutil.which("node") is None, reason="no node to run the page's script")
def test_the_scripts_of_a_page_run_together(page, tmp_path):
    library_script, own = re.findall(r"<script>(.*?)</script>", page, re.S)
    stub = """
    globalThis.window = globalThis;
    globalThis.matchMedia = () => ({matches: false, addEventListener() {}});
    globalThis.addEventListener = () => {};
    const vm = require("vm"), fs = require("fs");
    vm.runInThisContext(fs.readFileSync("library.js", "utf8"));
    if (typeof vegaEmbed !== "function") throw new Error("no vegaEmbed");
    const drawn = [];
    globalThis.vegaEmbed = (place, spec) => { drawn.push(spec); };
    vm.runInThisContext(fs.readFileSync("own.js", "utf8"));
    const [spec] = drawn;
    console.log(drawn.length, spec.config.background, spec.layer.length > 5);
    console.log(Object.keys(spec.datasets).length > 3);
    """
    files = {"library.js": library_script, "own.js": own, "run.js": stub}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["node", "run.js"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["1", "#ffffff", "true", "true"]


def test_a_study_named_like_a_script_stays_text(demo_compute, tmp_path):
    named = replace(demo_compute, study=replace(demo_compute.study, name=ATTACK))
    write(law(named), tmp_path, "law")
    text = (tmp_path / "law.html").read_text(encoding="utf-8")
    assert ATTACK not in text
    assert [tag for tag, _ in Tags(text).found].count("script") == 2
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text  # the page's title
    assert ATTACK in " ".join(specs_of(text)["wide"]["title"]["text"])


def test_a_hyperparameter_and_its_values_named_like_a_script_stay_text(make_study, tmp_path):
    C = np.geomspace(1e18, 1e21, 12)
    columns = {"N": C / 6e9, "D": np.full(12, 1e9), ATTACK: [ATTACK, "adam"] * 6}
    analysis = analyse(make_study(columns, 2 + 1e4 * C**-0.22), FitOptions(LC))
    write(law(analysis), tmp_path, "law")
    text = (tmp_path / "law.html").read_text(encoding="utf-8")
    assert ATTACK not in text
    shown = specs_of(text)["wide"]["layer"]
    titles = {t["title"] for part in shown for t in part["encoding"].get("tooltip", [])}
    assert ATTACK in titles


def test_json_in_a_script_cannot_end_it_and_reads_back():
    value = {"a": "</script><!--", "b": "\u2028&", "c": [1, None]}
    text = script_json(value)
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == value


def test_every_format_is_what_it_claims(demo_compute, tmp_path):
    done = write(law(demo_compute), tmp_path, "law", formats=["html", "png", "svg", "pdf"])
    assert [path.name for path in done] == ["law.html", "law.png", "law.svg", "law.pdf"]
    starts = [path.read_bytes()[:15].lower() for path in done]
    assert starts[0].startswith(b"<!doctype html>")
    assert starts[1].startswith(b"\x89png")
    assert starts[2].startswith(b"<svg")
    assert starts[3].startswith(b"%pdf")


def test_a_png_has_two_pixels_a_point(demo_compute, tmp_path):
    path = write(law(demo_compute), tmp_path, "law", formats=["png"])[0]
    width = int.from_bytes(path.read_bytes()[16:20], "big")
    assert 1400 < width <= 2 * 770


def test_all_charts_are_written_or_accounted_for(demo_compute, tmp_path):
    made = answered()
    told = [replace(forecast, hp={}) for forecast in made.answer.forecasts]
    bare = replace(made, answer=replace(made.answer, forecasts=tuple(told)))
    paths, missing = write_all(tmp_path / "new" / "folder", bare, demo_compute)
    written = list(dict.fromkeys(path.stem for path in paths))
    assert written == [
        *("answer", "allocation", "hyperparameters", "law", "isoflop", "residuals"),
    ]
    assert missing == {
        "curves": "LC is not a law of N and D",
        "region": "no hyperparameter varies at given N and D",
    }
    files = {path.name for path in (tmp_path / "new" / "folder").iterdir()}
    assert files == {f"{name}.{suffix}" for name in written for suffix in ("html", "png")}
    text = (tmp_path / "new" / "folder" / "answer.html").read_text(encoding="utf-8")
    assert "<title>Best loss by compute: small</title>" in text


def test_a_place_that_is_no_folder_is_told(demo_compute, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LawsmithError, match="want a file that can be written"):
        write(law(demo_compute), tmp_path / "file", "law")


def test_an_unknown_format_is_told(demo_compute, tmp_path):
    with pytest.raises(LawsmithError, match="chart format: got 'gif', want one of html"):
        write(law(demo_compute), tmp_path, "law", formats=["gif"])


def test_the_library_is_kept_and_read_again(own_cache: Path):
    first = library()
    (kept,) = own_cache.iterdir()
    assert kept.read_text(encoding="utf-8") == first
    kept.write_text("kept", encoding="utf-8")
    assert library() == "kept"


def test_without_a_cache_to_write_the_library_is_made(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LAWSMITH_CACHE", str(tmp_path / "file"))
    assert "vegaEmbed" in library()


def test_a_chart_unavailable_is_an_error_of_lawsmith():
    assert issubclass(ChartUnavailable, LawsmithError)
