// Charts: drawn when they come near the screen, since a page has a dozen, and drawn again when the
// theme or the width of the page changes, and before printing. Drawing waits for nothing outside the
// page, so it is done before a browser goes on to print.
const dark = matchMedia("(prefers-color-scheme: dark)");
const narrow = matchMedia("(max-width: 640px)");
const drawn = new Map(); // place of a chart → what was drawn there
const theme = () => (dark.matches ? "dark" : "light");

function rows({n, columns}) {
  const names = Object.keys(columns);
  return Array.from({length: n}, (_, i) => Object.fromEntries(names.map((k) => [k, columns[k][i]])));
}

function specOf(place, which) {
  if (!place.told) {
    const told = JSON.parse(place.parentNode.querySelector("script.data").textContent);
    const datasets = {};
    for (const name in told.datasets) datasets[name] = rows(told.datasets[name]);
    place.told = {specs: told.specs, datasets};
  }
  const size = narrow.matches && which !== "print" ? "narrow" : "wide";
  return {...place.told.specs[size], datasets: place.told.datasets, config: configs[which]};
}

function draw(place, which = theme()) {
  const done = vegaEmbed(place, specOf(place, which), {
    mode: "vega-lite",
    renderer: "svg",
    actions: {export: true, source: false, compiled: false, editor: false},
    downloadFileName: place.dataset.name,
    tooltip: {theme: which === "dark" ? "dark" : "light"},
  }).then((result) => {
    drawn.get(place)?.finalize?.();
    drawn.set(place, result);
    place.style.minHeight = "0";
    place.dataset.drawn = which;
  }).catch((error) => {
    place.textContent = "This chart could not be drawn: " + error.message;
    console.error(error);
  });
  drawn.set(place, drawn.get(place) ?? {});
  return done;
}

const near = new IntersectionObserver((seen) => {
  for (const {target, isIntersecting} of seen) {
    if (isIntersecting && !drawn.has(target)) draw(target);
  }
}, {rootMargin: "600px 0px"});

const places = () => [...document.querySelectorAll(".chart")];
function redraw() {
  for (const place of drawn.keys()) draw(place);
}
for (const media of [dark, narrow]) media.addEventListener("change", redraw);
addEventListener("beforeprint", () => places().forEach((place) => draw(place, "print")));
addEventListener("afterprint", () => places().forEach((place) => draw(place)));

function watchCharts(part) {
  part.querySelectorAll(".chart").forEach((place) => near.observe(place));
}
function forgetCharts(part) {
  for (const place of part.querySelectorAll(".chart")) {
    near.unobserve(place);
    drawn.get(place)?.finalize?.();
    drawn.delete(place);
  }
}
