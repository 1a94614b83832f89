// A live page: asks for cards newer than those it has; the answer comes when there are some, or
// after half a minute without. A card that changed is put in the place of the old one.
const RETRY_MS = 2000;

const FOCUS = "a, button, input, summary, [tabindex]";

function put(card, order) {
  const holder = document.createElement("template");
  holder.innerHTML = card.html; // made by the server with every text escaped
  const fresh = holder.content.firstElementChild;
  const old = document.getElementById(fresh.id);
  if (old) return replace(old, fresh);
  const above = order.slice(0, order.indexOf(card.name)).reverse()
    .map((name) => document.getElementById("card-" + name)).find(Boolean);
  if (above) above.after(fresh); else document.querySelector("main").prepend(fresh);
  if (fresh.querySelector(".runs")) runsState = startRuns(fresh, runsState ?? {});
  fresh.querySelectorAll(".chart").forEach(wait);
}

// What a reader has done to a card stays: its focus, the text typed, how far its tables are scrolled.
function replace(old, fresh) {
  const at = [...old.querySelectorAll(FOCUS)].indexOf(document.activeElement);
  const typed = at >= 0 ? document.activeElement.selectionStart : null;
  const scrolled = [...old.querySelectorAll(".scroll")].map((frame) => frame.scrollLeft);
  const due = keepCharts(old, fresh);
  old.replaceWith(fresh);
  if (fresh.querySelector(".runs")) runsState = startRuns(fresh, runsState ?? {});
  due.forEach(wait);
  fresh.querySelectorAll(".scroll").forEach((frame, i) => { frame.scrollLeft = scrolled[i] ?? 0; });
  const focus = at >= 0 && fresh.querySelectorAll(FOCUS)[at];
  if (focus) focus.focus({preventScroll: true});
  if (focus && typeof typed === "number") focus.setSelectionRange(typed, typed);
}

// The places of charts move to the new card with what is drawn in them, so that nothing flickers or
// changes its height; the charts that are to be drawn anew.
function keepCharts(old, fresh) {
  const data = (place) => place.parentNode.querySelector("script.data").textContent;
  const due = [];
  for (const place of fresh.querySelectorAll(".chart")) {
    const before = old.querySelector('.chart[data-name="' + CSS.escape(place.dataset.name) + '"]');
    const same = before && data(before) === data(place);
    if (before) place.replaceWith(before);
    if (!same) due.push(before ?? place);
  }
  old.querySelectorAll(".chart").forEach(forget);
  return due;
}

function take(told) {
  for (const card of told.cards) put(card, told.order);
  for (const card of document.querySelectorAll(".card")) {
    if (told.order.includes(card.id.slice("card-".length))) continue;
    card.querySelectorAll(".chart").forEach(forget);
    card.remove();
  }
  if (contents.told !== told.links) {
    contents.innerHTML = contents.told = told.links;
    marked = null;
  }
  mark();
}

// Cards newer than a revision; null where nobody answers.
async function ask(since) {
  try {
    const answer = await fetch("cards?since=" + encodeURIComponent(since), {cache: "no-store"});
    return answer.ok ? await answer.json() : null;
  } catch (error) {
    return null;
  }
}

async function live() {
  const state = document.getElementById("state");
  let since = state.dataset.revision;
  for (;;) {
    const told = await ask(since);
    state.classList.toggle("lost", !told);
    state.textContent = told?.state ?? "no answer from lawsmith serve: what is shown may be old";
    if (told) {
      since = told.revision;
      steady(() => take(told));
    } else await new Promise((done) => setTimeout(done, RETRY_MS));
  }
}
