const dark = matchMedia("(prefers-color-scheme: dark)");
const narrow = matchMedia("(max-width: 800px)");
const $ = (id) => document.getElementById(id);
const frames = told.frames;
const runs = rows(told.runs);
const views = {};
let at = 0;
let timer = null;
let drawing = Promise.resolve();

function rows({n, columns}) {
  const names = Object.keys(columns);
  return Array.from({length: n}, (_, i) =>
    Object.fromEntries(names.map((name) => [name, columns[name][i]])));
}

// Everything a frame shows, by the name under which the charts look for it.
function datasets(frame) {
  const made = runs.slice(0, frame.shown);
  const found = {latest: frame.n ? made.slice(-1) : []};
  for (const kind of ["initial", "runs", "off"]) {
    found[kind] = made.filter((run) => run.kind === kind);
  }
  for (const [name, part] of Object.entries(frame.data)) found[name] = rows(part);
  return found;
}

async function embed(theme) {
  const data = datasets(frames[at]);
  for (const place of document.querySelectorAll(".chart")) {
    const name = place.dataset.name;
    const {fixed, ...specs} = told.specs[name];
    const chart = narrow.matches ? specs.narrow : specs.wide;
    const spec = {...chart, datasets: {...data, ...fixed}, config: configs[theme]};
    if (!frames[at].law) spec.datasets.reference = [];
    const result = await vegaEmbed(place, spec, {
      mode: "vega-lite",
      renderer: "svg",
      actions: false,
      tooltip: {theme: theme === "dark" ? "dark" : "light"},
    });
    views[name] = result.view;
    place.dataset.drawn = String(frames[at].n);
  }
}

// Only what a chart has asked for is exchanged; its axes stay.
async function update() {
  const frame = frames[at];
  const data = {...datasets(frame), reference: frame.law ? told.specs.plane.fixed.reference : []};
  for (const place of document.querySelectorAll(".chart")) {
    const view = views[place.dataset.name];
    if (!view) continue;
    const known = new Set(Object.keys(view.getState({data: () => true}).data));
    for (const [name, values] of Object.entries(data)) {
      if (known.has(name)) view.data(name, values);
    }
    await view.runAsync();
    place.dataset.drawn = String(frame.n);
  }
}

function tell() {
  const frame = frames[at];
  for (const part of ["head", "next", "why", "came"]) $(part).textContent = frame.words[part];
  $("slider").value = String(at);
  $("previous").disabled = at === 0;
  $("following").disabled = at === frames.length - 1;
  for (const button of $("looks").children) {
    button.setAttribute("aria-current", String(Number(button.dataset.frame) === at));
  }
}

function go(place) {
  at = Math.min(Math.max(place, 0), frames.length - 1);
  tell();
  // One after the other: a frame that was overtaken meanwhile is not drawn at all.
  const wanted = at;
  drawing = drawing.then(() => (wanted === at ? update() : undefined));
}

function stop() {
  clearInterval(timer);
  timer = null;
  $("play").textContent = "Play";
}

function play() {
  if (timer) return stop();
  if (at === frames.length - 1) go(0);
  $("play").textContent = "Pause";
  timer = setInterval(() => (at === frames.length - 1 ? stop() : go(at + 1)), 700);
}

function begin() {
  $("slider").max = String(frames.length - 1);
  for (const [text, frame] of Object.entries(told.looks)) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.dataset.frame = String(frame);
    button.addEventListener("click", () => { stop(); go(frame); });
    $("looks").append(button);
  }
  for (const button of document.querySelectorAll("button[data-before]")) {
    const before = Number(button.dataset.before);
    const frame = frames.findLastIndex((one) => one.n <= before);
    button.addEventListener("click", () => { stop(); go(frame); scrollTo({top: 0}); });
  }
  $("slider").addEventListener("input", () => { stop(); go(Number($("slider").value)); });
  $("previous").addEventListener("click", () => { stop(); go(at - 1); });
  $("following").addEventListener("click", () => { stop(); go(at + 1); });
  $("play").addEventListener("click", play);
  addEventListener("keydown", (event) => {
    if (event.target instanceof HTMLInputElement) return;
    if (event.key === "ArrowLeft") { stop(); go(at - 1); }
    if (event.key === "ArrowRight") { stop(); go(at + 1); }
  });
  at = Math.min(1, frames.length - 1); // the first frame with a law
  tell();
  const redraw = (theme) => { drawing = drawing.then(() => embed(theme)); };
  const screen = () => redraw(dark.matches ? "dark" : "light");
  dark.addEventListener("change", screen);
  narrow.addEventListener("change", screen);
  addEventListener("beforeprint", () => redraw("print"));
  addEventListener("afterprint", screen);
  screen();
}

begin();
