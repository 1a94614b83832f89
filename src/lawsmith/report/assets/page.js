// Charts are drawn when they come near the screen, because a page has a dozen. They are drawn again
// when the theme or the width of the page changes, and before printing. Drawing loads nothing, so it
// is done before the browser prints.
const dark = matchMedia("(prefers-color-scheme: dark)");
const narrow = matchMedia("(max-width: 640px)");
const views = new Map(); // place of a chart → its view
const theme = () => (dark.matches ? "dark" : "light");

function rows({n, columns}) {
  const names = Object.keys(columns);
  return Array.from({length: n}, (_, i) => Object.fromEntries(names.map((k) => [k, columns[k][i]])));
}

function specOf(place, which) {
  if (!place.data) {
    const data = JSON.parse(place.parentNode.querySelector("script.data").textContent);
    const datasets = {};
    for (const name in data.datasets) datasets[name] = rows(data.datasets[name]);
    place.data = {specs: data.specs, datasets};
  }
  const size = narrow.matches && which !== "print" ? "narrow" : "wide";
  const description = place.parentNode.querySelector("figcaption p").textContent; // for screen readers
  return {...place.data.specs[size], description, datasets: place.data.datasets,
    config: configs[which]};
}

// Keeps the reader's place while something above it changes its height: the last part that begins
// above the line to which links scroll. The browser's own scroll anchoring fails for replaced parts.
const PARTS = ".card[id], figure[id], table[id]";
const line = () => parseFloat(getComputedStyle(document.querySelector(".card") ?? document.body)
  .scrollMarginTop) + 2;
const topOf = (part) => part.getBoundingClientRect().top;
function steady(change) {
  const parts = scrollY > 0 ? [...document.querySelectorAll(PARTS)] : [];
  const kept = parts.filter((part) => topOf(part) <= line()).pop();
  const before = kept && topOf(kept);
  change();
  const after = kept && document.getElementById(kept.id);
  if (after) scrollBy({top: topOf(after) - before, behavior: "instant"});
}

// For a screen reader, a chart is one picture with its caption; the runs are in the table.
function label(holder) {
  const chart = holder.querySelector(".chart-wrapper");
  chart.setAttribute("role", "img");
  chart.firstElementChild.setAttribute("aria-hidden", "true");
  holder.querySelector("summary")?.setAttribute("aria-label", "Save this chart");
}

// Draws off screen and puts the chart in place as a whole, so that it never collapses.
async function draw(place, which = theme()) {
  place.due = false;
  const turn = place.turn = (place.turn ?? 0) + 1;
  const holder = document.createElement("div");
  try {
    const view = await vegaEmbed(holder, specOf(place, which), {
      mode: "vega-lite",
      renderer: "svg",
      actions: {export: true, source: false, compiled: false, editor: false},
      downloadFileName: place.dataset.name,
      tooltip: {theme: which === "dark" ? "dark" : "light"},
    });
    label(holder);
    if (turn !== place.turn) return view.finalize(); // drawn again or removed in the meantime
    views.get(place)?.finalize();
    views.set(place, view);
  } catch (error) {
    holder.textContent = "This chart could not be drawn: " + error.message;
    console.error(error);
  }
  steady(() => {
    place.replaceChildren(holder);
    place.style.minHeight = "0";
  });
  place.dataset.drawn = which;
}

const near = new IntersectionObserver((seen) => {
  for (const {target, isIntersecting} of seen) if (isIntersecting && target.due) draw(target);
}, {rootMargin: "600px 0px"});

const places = () => [...document.querySelectorAll(".chart")];
function redraw() {
  for (const place of views.keys()) draw(place);
}
for (const media of [dark, narrow]) media.addEventListener("change", redraw);
addEventListener("beforeprint", () => places().forEach((place) => draw(place, "print")));
addEventListener("afterprint", () => places().forEach((place) => draw(place)));

// Draws a chart (again) once it is near the screen.
function wait(place) {
  place.due = true;
  delete place.data;
  delete place.dataset.drawn;
  near.unobserve(place);
  near.observe(place);
}
function forget(place) {
  place.turn = -1;
  near.unobserve(place);
  views.get(place)?.finalize();
  views.delete(place);
}

// Marks the link of the card that is being read, and scrolls it into view on a phone.
const contents = document.querySelector("nav.contents");
let marked = null;
function mark() {
  const cards = [...document.querySelectorAll(".card")];
  const card = cards.filter((one) => topOf(one) <= innerHeight / 3).pop() ?? cards[0];
  const link = card && contents.querySelector('[href="#' + CSS.escape(card.id) + '"]');
  if (!link || link === marked) return;
  marked?.removeAttribute("aria-current");
  link.setAttribute("aria-current", "location");
  contents.scrollTo({left: link.offsetLeft - 40, top: link.offsetTop - 80});
  marked = link;
}
addEventListener("scroll", mark, {passive: true});
