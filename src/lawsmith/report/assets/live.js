// A live page: asks for cards newer than those it has; the answer comes when there are some, or
// after half a minute without. A card that changed is put in the place of the old one.
const RETRY_MS = 2000;

function put(card, order) {
  const holder = document.createElement("template");
  holder.innerHTML = card.html; // made by the server with every text escaped
  const fresh = holder.content.firstElementChild;
  const old = document.getElementById(fresh.id);
  if (!old) {
    const above = order.slice(0, order.indexOf(card.name)).reverse()
      .map((name) => document.getElementById("card-" + name)).find(Boolean);
    if (above) above.after(fresh); else document.querySelector("main").prepend(fresh);
  } else {
    // The old drawings stay until the new ones are there, so that nothing flickers or jumps.
    for (const place of fresh.querySelectorAll(".chart")) {
      const before = old.querySelector('.chart[data-name="' + CSS.escape(place.dataset.name) + '"]');
      if (before) place.replaceChildren(...before.childNodes);
    }
    const typing = old.contains(document.activeElement) && document.activeElement.matches("input");
    const at = typing ? document.activeElement.selectionStart : 0;
    forgetCharts(old);
    old.replaceWith(fresh);
    if (fresh.querySelector(".runs")) runsState = startRuns(fresh, runsState ?? {});
    if (typing) {
      const input = fresh.querySelector("input");
      input.focus();
      input.setSelectionRange(at, at);
    }
  }
  watchCharts(fresh);
}

async function live() {
  const state = document.getElementById("state");
  let since = state.dataset.revision;
  for (;;) {
    try {
      const answer = await fetch("cards?since=" + encodeURIComponent(since), {cache: "no-store"});
      if (!answer.ok) throw new Error(String(answer.status));
      const told = await answer.json();
      since = told.revision;
      told.cards.forEach((card) => put(card, told.order));
      for (const card of document.querySelectorAll(".card")) {
        if (!told.order.includes(card.id.slice("card-".length))) card.remove();
      }
      document.querySelector('nav[aria-label="cards"]').innerHTML = told.links;
      state.textContent = told.state;
      state.classList.remove("lost");
    } catch (error) {
      state.textContent = "no answer from lawsmith serve: what is shown may be old";
      state.classList.add("lost");
      await new Promise((done) => setTimeout(done, RETRY_MS));
    }
  }
}
