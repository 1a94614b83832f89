// The table of runs: shown page by page, sorted by a column, filtered by words (in any cell) and by
// comparisons such as lr>=0.001, N<1B or state=done.
const PAGE_OF_RUNS = 50;
const SUFFIXES = {K: 1e3, M: 1e6, B: 1e9, T: 1e12};

function digits(value, n) {
  const rounded = Number(value.toPrecision(n));
  const size = Math.abs(rounded);
  if (rounded === 0 || (size >= 1e-4 && size < 1e6)) return String(rounded);
  return power(rounded, n);
}
function power(value, n) {
  const [mantissa, exponent] = value.toExponential(n - 1).split("e");
  return String(Number(mantissa)) + "e" + String(Number(exponent));
}
function count(value) {
  const rounded = Number(value.toPrecision(3));
  for (const [suffix, size] of Object.entries(SUFFIXES).reverse()) {
    if (Math.abs(rounded) >= size && Math.abs(rounded) < 1e15) return digits(rounded / size, 3) + suffix;
  }
  return Math.abs(rounded) < 1e15 ? digits(rounded, 3) : power(rounded, 3);
}
function shown(value, form) {
  if (value === null || value === undefined) return "";
  if (typeof value === "string" || form === "text") return String(value);
  if (form === "count") return count(value);
  if (form === "percent") return value.toFixed(2);
  if (form === "loss" && Math.abs(value) >= 1e-3 && Math.abs(value) < 1e4) return value.toFixed(4);
  return form === "flops" ? power(value, 3) : digits(value, 5);
}

function number(word) {
  const match = /^([-+]?[\d.]+(?:e[-+]?\d+)?)([KMBT]?)$/i.exec(word);
  return match ? Number(match[1]) * (SUFFIXES[match[2].toUpperCase()] ?? 1) : NaN;
}

// A test of row i for each word of the filter; a row is shown if it passes all.
function tests(text, columns) {
  return text.trim().split(/\s+/).filter(Boolean).map((word) => {
    const match = /^(.+?)(<=|>=|!=|<|>|=)(.+)$/.exec(word);
    const column = match && columns.find(
      (c) => c.name.replace(/\s+/g, "").toLowerCase() === match[1].toLowerCase());
    if (column) return comparison(column, match[2], match[3]);
    const wanted = word.toLowerCase();
    return (i) => columns.some((c) => shown(c.values[i], c.form).toLowerCase().includes(wanted));
  });
}
function comparison(column, sign, word) {
  const wanted = number(word);
  return (i) => {
    const value = column.values[i];
    if (typeof value !== "number" || Number.isNaN(wanted)) {
      const same = String(value ?? "").toLowerCase() === word.toLowerCase();
      return sign === "=" ? same : sign === "!=" ? !same : false;
    }
    const close = Math.abs(value - wanted) <= 1e-9 * Math.abs(wanted);
    switch (sign) {
      case "=": return close;
      case "!=": return !close;
      case "<": return value < wanted && !close;
      case ">": return value > wanted && !close;
      case "<=": return value <= wanted || close;
      default: return value >= wanted || close;
    }
  };
}

// Order of two values: numbers by size, text alphabetically, missing values always last.
function before(a, b, way) {
  if (a === null || b === null) return (a === null) - (b === null);
  if (typeof a === "number" && typeof b === "number") return way * (a - b);
  return way * String(a).localeCompare(String(b), "en", {numeric: true});
}

function startRuns(part, kept = {}) {
  const box = part.querySelector(".runs");
  if (!box) return null;
  const columns = JSON.parse(box.querySelector("script.data").textContent);
  const n = columns[0].values.length;
  const [head, body] = [box.querySelector("thead"), box.querySelector("tbody")];
  const [input, summary] = [box.querySelector("input"), box.querySelector("output")];
  const state = {text: "", by: null, way: 1, page: 0, ...kept};
  let order = [];

  function pick() {
    const wanted = tests(state.text, columns);
    order = Array.from({length: n}, (_, i) => i).filter((i) => wanted.every((test) => test(i)));
    const values = columns.find((c) => c.name === state.by)?.values;
    if (values) order.sort((i, j) => before(values[i], values[j], state.way) || i - j);
    state.page = Math.min(state.page, Math.max(Math.ceil(order.length / PAGE_OF_RUNS) - 1, 0));
    show();
  }
  function show() {
    const first = state.page * PAGE_OF_RUNS;
    const part = order.slice(first, first + PAGE_OF_RUNS);
    body.replaceChildren(...part.map((i) => {
      const row = document.createElement("tr");
      for (const column of columns) {
        const cell = row.insertCell();
        cell.textContent = shown(column.values[i], column.form);
        if (column.form === "text") cell.className = "word";
        if (column.form === "text") cell.title = cell.textContent;
      }
      return row;
    }));
    const all = n.toLocaleString("en");
    summary.textContent = order.length < n
      ? order.length.toLocaleString("en") + " of " + all + " runs" : all + " runs";
    const last = Math.min(first + PAGE_OF_RUNS, order.length);
    const pages = box.querySelector(".pages");
    pages.querySelector("span").textContent = order.length
      ? (first + 1).toLocaleString("en") + "–" + last.toLocaleString("en") + " of " +
        order.length.toLocaleString("en") : "none";
    const [back, on] = pages.querySelectorAll("button");
    back.disabled = first === 0;
    on.disabled = last >= order.length;
    [...head.rows[0].cells].forEach((cell, k) => {
      const sorted = columns[k].name === state.by;
      cell.setAttribute("aria-sort", !sorted ? "none" : state.way > 0 ? "ascending" : "descending");
    });
  }
  const top = document.createElement("tr");
  for (const column of columns) {
    const cell = document.createElement("th");
    cell.scope = "col";
    if (column.form === "text") cell.className = "word";
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = column.name;
    button.addEventListener("click", () => {
      state.way = state.by === column.name ? -state.way : 1;
      state.by = column.name;
      pick();
    });
    cell.append(button);
    top.append(cell);
  }
  head.replaceChildren(top);
  input.value = state.text;
  input.addEventListener("input", () => { state.text = input.value; state.page = 0; pick(); });
  for (const button of box.querySelectorAll(".pages button")) {
    button.addEventListener("click", () => { state.page += Number(button.dataset.step); show(); });
  }
  pick();
  return state;
}
