"""The page: one file that loads nothing, with every section, table and chart, safe and readable."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

from lawsmith.errors import LawsmithError
from lawsmith_paper import page as page_module
from lawsmith_paper.figures import FOLDER
from lawsmith_paper.flowchart import STEPS, TALL, WIDE, svg
from lawsmith_paper.page import PAGE, by_column, page_of, read_summary, write_page
from lawsmith_paper.plan import Options
from lawsmith_paper.published import COEFFICIENTS, EXTRAPOLATION
from lawsmith_paper.results import write_results
from lawsmith_paper.sections import Section
from lawsmith_paper.spends import WITHIN
from lawsmith_paper.suites import suites_named
from lawsmith_paper.tables import Table, published
from lawsmith_paper.work import work

OPTIONS = Options(seeds=2, iterations=14)
SUITES = ("pitch", "main", "extrapolation", "coefficients", "datasets", "kernels")
NBSP = "\u00a0"
ATTACK = "<script>alert(1)</script>"


class Page(HTMLParser):
    """Tags with attributes, the texts of cells by table, of scripts by id, and all visible text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.scripts: dict[str, str] = {}
        self.words: list[str] = []
        self._table = self._script = None
        self._cell: list[str] | None = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.tags.append((tag, found))
        if tag == "table":
            self._table = self.tables.setdefault(found["id"].removeprefix("table-"), [])
        elif tag == "tr":
            self._table.append([])
        elif tag in ("td", "th"):
            self._cell = []
        elif tag in ("script", "style"):
            self._script = found.get("id", tag)

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self._table[-1].append("".join(self._cell))
            self._cell = None
        elif tag in ("script", "style"):
            self._script = None

    def handle_data(self, data):
        if self._cell is not None:
            self._cell.append(data)
        if self._script is not None:
            self.scripts[self._script] = self.scripts.get(self._script, "") + data
        else:
            self.words.append(data)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Some suites on synthetic twins, of which only the main result was run.

    The pictures are not written to files, which takes long; only which ones would be is told.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("LAWSMITH_DATA", raising=False)
        patch.setenv("LAWSMITH_CACHE", str(tmp_path_factory.mktemp("cache")))
        found = tmp_path_factory.mktemp("paper")
        patch.setattr(page_module, "write_pictures", lambda at, some: told.write_text(names(some)))
        told = found / "pictures.txt"
        suites = [suite for name in SUITES for suite in suites_named(name, OPTIONS)]
        assert work(found, suites[1].jobs, processes=1) == []
        write_results(found, suites, OPTIONS)
        assert page_of(found) == found / PAGE
    return found


def names(pictures):
    return " ".join(picture.name for picture in pictures)


@pytest.fixture(scope="module")
def text(folder):
    return (folder / PAGE).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(text):
    return Page(text)


def test_a_page_loads_nothing_from_outside(page, text):
    for tag, attributes in page.tags:
        assert not {"src", "action", "srcset", "data"} & set(attributes), tag
        assert attributes.get("href", "#").startswith("#")
    assert "@import" not in page.scripts["style"]
    assert not re.search(r"url\((?!#)", page.scripts["style"])
    policy = next(a["content"] for _, a in page.tags if "http-equiv" in a)
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy
    ours = text.split("<script>")[-1]
    assert "http" not in ours.split("const dark")[1]


def test_every_suite_has_its_section_and_its_place_in_the_contents(page):
    ids = {attributes["id"] for tag, attributes in page.tags if tag == "h2"}
    assert ids == {"how", "framework", *SUITES}
    links = [a["href"] for tag, a in page.tags if tag == "a"]
    assert links == ["#framework", *(f"#{name}" for name in SUITES)]
    assert "".join(page.words).count("Nothing of this is finished yet.") == 1  # of the kernels


def test_the_papers_numbers_stand_beside_ours(page):
    rows = page.tables["extrapolation"]
    assert rows[0][-1] == "paper"
    wanted = [published(v, 2) for targets in EXTRAPOLATION.values() for v in targets.values()]
    assert [row[-1].replace(NBSP, " ") for row in rows[1:]] == wanted
    rows = page.tables["coefficients"]
    last = [row[-1].replace(NBSP, " ") for row in rows[1:]]
    digits = {"log_E": 4, "log_A": 3, "alpha": 4}
    assert last == [published(r[k], digits[k]) for r in COEFFICIENTS.values() for k in digits]
    assert last[-3:] == ["0.4499", "6.679", "−0.1518"]
    assert [row[-1] for row in page.tables["speedup"][1:]] == ["10×", "100×"] * len(WITHIN)
    assert page.tables["datasets-overview"][2][1:4] == ["942", "6", "9"]
    assert page.tables["datasets-scales"][2][-1] == "1.45e23"


def test_every_table_can_scroll_in_a_frame_of_its_own(page):
    frames = [a for tag, a in page.tags if tag == "div" and a.get("class") == "scroll"]
    assert len(frames) == len(page.tables)
    titles = {a["id"] for tag, a in page.tags if tag == "h3" and "id" in a}
    assert {frame["aria-labelledby"] for frame in frames} <= titles
    assert ".scroll { overflow-x: auto;" in page.scripts["style"]


def test_a_page_says_how_it_was_run(page, folder):
    summary = read_summary(folder)
    words = "".join(page.words)
    study = summary["studies"]["synthetic-oellm-english"]
    assert study["digest"] in words
    assert summary["version"] in words
    assert f"after {OPTIONS.iterations} runs" in words
    assert f"4 of {summary['jobs']['planned']} finished" in words
    row = next(row for row in page.tables["studies"] if "synthetic-oellm-english" in row)
    assert str(study["laws"]["LC"]["n_pool"]) in row


def test_synthetic_studies_are_called_so_in_every_title(page, text):
    for name in ("extrapolation", "coefficients", "speedup", "spend", "main-budgets"):
        title = re.search(rf'<h3 id="title-{name}">([^<]*)</h3>', text)[1]
        assert title.endswith(": synthetic-oellm-english")
    for name in ("pitch", "main", "main-incumbent"):
        told = json.loads(page.scripts[f"data-{name}"])
        for spec in told["specs"].values():
            assert "synthetic-oellm-english" in " ".join(spec["title"]["text"])


def test_charts_hold_three_widths_and_their_data_once(page):
    charts = [a["data-name"] for tag, a in page.tags if a.get("class") == "chart"]
    assert charts == ["pitch", "main", "main-incumbent"]
    for name in charts:
        told = json.loads(page.scripts[f"data-{name}"])
        assert set(told["specs"]) == {"wide", "medium", "narrow"}
        for spec in told["specs"].values():
            assert not {"config", "datasets", "$schema"} & set(spec)
            used = set(re.findall(r'"data": \{"name": "([^"]+)"', json.dumps(spec)))
            assert used <= set(told["datasets"])
        assert all(part["n"] <= 160 for part in told["datasets"].values())


def test_without_a_script_a_chart_names_its_file(page, folder):
    words = "".join(page.words)
    written = (folder / "pictures.txt").read_text().split()
    assert written == ["pitch", "main", "main-incumbent"]
    for name in written:
        assert f"{FOLDER}/{name}.svg and .png show the same" in words


def test_rows_become_columns_and_an_empty_row_is_kept():
    rows = [{"x": 1, "y": None}, {"x": 2, "y": "b"}]
    assert by_column(rows) == {"n": 2, "columns": {"x": [1, 2], "y": [None, "b"]}}
    assert by_column([{}]) == {"n": 1, "columns": {}}


@pytest.mark.skipif(shutil.which("node") is None, reason="no node to run the page's script")
def test_the_pages_script_draws_what_comes_near(text, tmp_path):
    library, own = re.findall(r"<script>(.*?)</script>", text, re.S)
    told = re.search(r'id="data-main">(.*?)</script>', text, re.S)[1]
    stub = """
    const vm = require("vm"), fs = require("fs");
    globalThis.window = globalThis;
    const listeners = {};
    globalThis.addEventListener = (name, call) => { listeners[name] = call; };
    globalThis.matchMedia = () => ({matches: false, addEventListener() {}});
    const chart = {dataset: {name: "main"}};
    globalThis.document = {
      querySelectorAll: () => [chart],
      getElementById: () => ({textContent: fs.readFileSync("told.json", "utf8")}),
    };
    let seen;
    globalThis.IntersectionObserver = class {
      constructor(call) { seen = call; }
      observe() {}
    };
    vm.runInThisContext(fs.readFileSync("library.js", "utf8"));
    if (typeof vegaEmbed !== "function") throw new Error("no vegaEmbed");
    const drawn = [];
    globalThis.vegaEmbed = (place, spec) => { drawn.push(spec); return Promise.resolve(); };
    vm.runInThisContext(fs.readFileSync("own.js", "utf8"));
    const before = drawn.length;
    seen([{target: chart, isIntersecting: true}]);
    seen([{target: chart, isIntersecting: true}]);
    listeners.beforeprint();
    const rows = Object.values(drawn[0].datasets).find((rows) => rows.length > 5);
    console.log(before, drawn.length, drawn[0].config.background, drawn[1].config.title.color);
    console.log(Object.keys(rows[0]).includes("spent"), drawn[0].vconcat.length);
    """
    files = {"library.js": library, "own.js": own, "told.json": told, "run.js": stub}
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    done = subprocess.run(
        ["node", "run.js"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["0", "2", "#ffffff", "#000000", "true", "2"]


def test_text_like_a_script_stays_text(folder, tmp_path):
    shutil.copy(folder / "summary.json", tmp_path)
    table = Table("t", ATTACK, (ATTACK, "paper"), ((ATTACK, ATTACK), (ATTACK, "1")), note=ATTACK)
    section = Section("s", ATTACK, ATTACK, tables=(table,), remarks=(ATTACK,))
    text = write_page(tmp_path, [section]).read_text(encoding="utf-8")
    assert ATTACK not in text
    assert [tag for tag, _ in Page(text).tags].count("script") == 2


def test_equal_heads_are_one_cell_and_many_heads_become_groups(folder, tmp_path):
    shutil.copy(folder / "summary.json", tmp_path)
    rows = tuple((g, m, f, k, "1") for g in "ab" for m in "cd" for f in "e" for k in "xy")
    table = Table("t", "T", ("g", "m", "f", "k", "v"), rows, n_heads=4)
    page = Page(write_page(tmp_path, [Section("s", "S", "", (table,))]).read_text("utf-8"))
    assert page.tables["t"] == [
        ["m", "f", "k", "v"],
        *(
            row
            for group in "ab"
            for row in (
                [group],
                *(["c", "e", "x", "1"], ["y", "1"], ["d", "e", "x", "1"], ["y", "1"]),
            )
        ),
    ]


def test_results_of_other_code_are_refused_and_a_folder_without_any_too(tmp_path, monkeypatch):
    monkeypatch.delenv("LAWSMITH_DATA", raising=False)
    with pytest.raises(LawsmithError, match=r"no summary\.json"):
        page_of(tmp_path)
    options = Options(seeds=1, iterations=12)
    (suite,) = suites_named("main", options)
    write_results(tmp_path, [suite], options)
    summary = json.loads((tmp_path / "summary.json").read_text())
    summary["jobs"]["finished"] = 2
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    with pytest.raises(LawsmithError, match="got results of other code or data"):
        page_of(tmp_path)


@pytest.mark.parametrize("layout", [WIDE, TALL])
def test_the_flow_chart_has_every_step_inside_its_frame_and_marks_the_additions(layout):
    assert len(layout.boxes) == len(STEPS)
    width, height = layout.box
    for box in layout.boxes:
        assert width / 2 <= box.x <= layout.width - width / 2
        assert height / 2 <= box.y <= layout.height - height / 2
        for other in layout.boxes:
            apart = abs(box.x - other.x) >= width or abs(box.y - other.y) >= height
            assert box is other or apart
    for arrow in layout.arrows:
        assert all(0 <= x <= layout.width and 0 <= y <= layout.height for x, y in arrow.points)
    assert {box.title for box in layout.boxes if box.added} == {
        *("Compute window", "Fantasized losses")
    }
    assert svg(layout, "x").count('class="step added"') == 2
