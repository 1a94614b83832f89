// A live page asks for cards that are newer than its own. The reply comes when there are some, or
// after twenty seconds. A card that changed replaces the old one.
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

// Keeps what the reader did to a card: its focus, the text typed, the scroll positions of its tables.
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

// Moves the drawn charts to the new card, so that nothing flickers or changes its height. Returns the
// charts to be drawn again.
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

function update(news) {
  for (const card of news.cards) put(card, news.order);
  for (const card of document.querySelectorAll(".card")) {
    if (news.order.includes(card.id.slice("card-".length))) continue;
    card.querySelectorAll(".chart").forEach(forget);
    card.remove();
  }
  if (contents.links !== news.links) {
    contents.innerHTML = contents.links = news.links;
    marked = null;
  }
  mark();
}

// Cards that are newer than a revision; null if the server does not respond.
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
    const news = await ask(since);
    state.classList.toggle("lost", !news);
    state.textContent = news?.state ?? "lawsmith serve does not respond: this page may be old";
    if (news) {
      since = news.revision;
      steady(() => update(news));
    } else await new Promise((done) => setTimeout(done, RETRY_MS));
  }
}
