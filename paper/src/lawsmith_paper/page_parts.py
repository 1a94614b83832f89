"""The page's fixed parts: its frame, its style in CSS variables, the script that draws charts.

The script draws a chart when it comes near the screen, since a page has dozens, and again when
the theme or the width of the page changes; before printing it draws all.
"""

from __future__ import annotations

from lawsmith.charts.theme import FONT

# The script is a block, so that its names cannot meet the library's.
FRAME = """{head}
<body>
<main>
{body}
</main>
<script>{library}</script>
<script>
{{
const configs = {configs};
{script}
}}
</script>
</body>
</html>
"""


STYLE = f"""\
body {{ margin: 0; background: var(--page); color: var(--ink); font: 16px/1.55 {FONT}; }}
main {{ max-width: 1080px; margin: 0 auto; padding: 24px 20px 80px; }}
h1 {{ font-size: 1.9rem; line-height: 1.2; margin: 0.4em 0 0.3em; }}
h2 {{ font-size: 1.35rem; line-height: 1.25; margin: 2.6em 0 0.5em; padding-top: 0.8em; \
border-top: 1px solid var(--faint); }}
h3 {{ font-size: 0.95rem; margin: 1.8em 0 0.5em; }}
summary h3 {{ display: inline-block; margin: 0.6em 0; cursor: pointer; }}
p, li {{ max-width: 46em; }}
p.about, figcaption, .note, dd {{ color: var(--text); }}
a {{ color: var(--accent); }}
ul.contents {{ columns: 2; padding-left: 1.2em; }}
ul.contents li {{ break-inside: avoid; }}
dl {{ display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; margin: 1em 0; }}
dt {{ font-weight: 600; }}
dd {{ margin: 0; }}
.remarks {{ border-left: 3px solid var(--accent); padding: 0.2em 0 0.2em 1.6em; margin: 1em 0; }}
.remarks li {{ margin: 0.25em 0; }}
.scroll {{ overflow-x: auto; margin: 0.4em 0; }}
table {{ border-collapse: collapse; font-size: 0.84rem; line-height: 1.35; \
font-variant-numeric: tabular-nums; }}
th, td {{ padding: 4px 10px; border-bottom: 1px solid var(--faint); white-space: nowrap; \
text-align: right; vertical-align: top; }}
th {{ font-weight: 600; }}
thead th {{ white-space: normal; vertical-align: bottom; border-bottom: 2px solid var(--text); }}
th.head {{ text-align: left; font-weight: normal; }}
thead th.head {{ font-weight: 600; }}
tr.group th {{ text-align: left; padding-top: 14px; }}
.paper {{ background: var(--tint); }}
.note {{ font-size: 0.88rem; margin: 0.2em 0 1.4em; }}
figure {{ margin: 1.6em 0; }}
figcaption {{ font-size: 0.92rem; max-width: 50em; }}
.chart {{ display: block; min-height: 330px; overflow-x: auto; }}
.chart svg {{ max-width: 100%; height: auto; }}
.flow {{ display: block; width: 100%; height: auto; font: 13px {FONT}; }}
.flow.tall {{ display: none; }}
.flow text {{ text-anchor: middle; fill: var(--text); font-size: 12px; }}
.flow .name {{ fill: var(--ink); font-size: 14px; font-weight: 600; }}
.flow .step rect {{ fill: var(--page); stroke: var(--text); stroke-width: 1.2; }}
.flow .added rect {{ fill: var(--tint); stroke: var(--warm); stroke-width: 2.6; }}
.flow .added .name {{ fill: var(--warm); }}
.flow .loop {{ fill: none; stroke: var(--text); stroke-width: 1; stroke-dasharray: 4 4; }}
.flow .arrow {{ fill: none; stroke: var(--text); stroke-width: 1.4; }}
.flow .tip {{ fill: var(--text); }}
@media (max-width: 640px) {{
  main {{ padding: 12px 12px 60px; }}
  h1 {{ font-size: 1.5rem; }}
  ul.contents {{ columns: 1; }}
  dl {{ grid-template-columns: 1fr; }}
  .chart {{ min-height: 1150px; }}
  .chart.has-actions {{ padding-right: 0; }}
  .chart details {{ display: none; }}
  .flow.wide {{ display: none; }}
  .flow.tall {{ display: block; max-width: 360px; margin: 0 auto; }}
}}
@media print {{
  .chart {{ min-height: 0; }}
  .scroll, .chart {{ overflow: visible; }}
  .chart details {{ display: none; }}
  table {{ font-size: 0.62rem; }}
  th, td {{ padding: 2px 5px; }}
  figure, table {{ break-inside: avoid; }}
}}
"""

SCRIPT = """
const dark = matchMedia("(prefers-color-scheme: dark)");
const sizes = [["narrow", matchMedia("(max-width: 640px)")],
               ["medium", matchMedia("(max-width: 1120px)")]];
const drawn = new Set();
function rows({n, columns}) {
  const row = (i) => Object.entries(columns).map(([name, values]) => [name, values[i]]);
  return Array.from({length: n}, (_, i) => Object.fromEntries(row(i)));
}
function read(chart) {
  const told = JSON.parse(document.getElementById("data-" + chart.dataset.name).textContent);
  const datasets = {};
  for (const name in told.datasets) datasets[name] = rows(told.datasets[name]);
  return {specs: told.specs, datasets};
}
function draw(chart, theme) {
  chart.told ??= read(chart);
  const size = sizes.find(([, media]) => media.matches)?.[0] ?? "wide";
  const spec = {...chart.told.specs[size], datasets: chart.told.datasets, config: configs[theme]};
  return vegaEmbed(chart, spec, {
    mode: "vega-lite",
    renderer: "svg",
    actions: {export: true, source: false, compiled: false, editor: false},
    downloadFileName: chart.dataset.name,
    tooltip: {theme: theme === "dark" ? "dark" : "light"},
  }).catch((error) => { chart.textContent = "This chart could not be drawn: " + error.message; });
}
const theme = () => (dark.matches ? "dark" : "light");
const charts = [...document.querySelectorAll(".chart")];
const near = new IntersectionObserver((seen) => {
  for (const {target, isIntersecting} of seen) {
    if (isIntersecting && !drawn.has(target)) {
      drawn.add(target);
      draw(target, theme());
    }
  }
}, {rootMargin: "800px 0px"});
charts.forEach((chart) => near.observe(chart));
const redraw = () => drawn.forEach((chart) => draw(chart, theme()));
for (const media of [dark, ...sizes.map(([, media]) => media)]) {
  media.addEventListener("change", redraw);
}
addEventListener("beforeprint", () => charts.forEach((chart) => draw(chart, "print")));
addEventListener("afterprint", redraw);
"""
