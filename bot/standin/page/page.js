"use strict";
const part = (id) => document.getElementById(id);
let shown = null;
let at = "";

const made = (tag, text, properties = {}) =>
  Object.assign(document.createElement(tag), { textContent: text, ...properties });

function icon(each) {
  const space = "http://www.w3.org/2000/svg";
  const drawing = document.createElementNS(space, "svg");
  const use = document.createElementNS(space, "use");
  const kind = each.state === "open" ? (each.kind === "issue" ? "issue" : "pull") : each.state;
  use.setAttribute("href", `#i-${kind}`);
  drawing.setAttribute("class", `icon ${each.state}`);
  drawing.setAttribute("role", "img");
  drawing.setAttribute("aria-label", each.state);
  drawing.append(use);
  return drawing;
}

function entry(each) {
  const button = made("button", "", { className: each.number === shown ? "now" : "" });
  button.dataset.number = each.number;
  const comments = each.comments ? ` · comments: ${each.comments}` : "";
  const words = made("span", "");
  words.append(
    made("strong", each.title),
    made("small", `#${each.number} opened ${each.opened} by ${each.author}${comments}`),
  );
  button.append(icon(each), words);
  button.onclick = () => show(each.number);
  return button;
}

async function list() {
  const state = await (await fetch("/threads")).json();
  at = state.at;
  if (shown === null) {
    const open = state.threads.filter((each) => each.kind === "pull request" && each.state === "open");
    shown = (open[0] || state.threads[0] || { number: null }).number;
    part("who").replaceChildren(...state.people.map((login) => made("option", login)));
    part("tags").replaceChildren(
      ...state.tags.map((tag, index) => {
        const label = made("label", "");
        label.append(made("input", "", { type: "checkbox", value: tag, checked: index === 0 }), ` ${tag}`);
        return label;
      }),
    );
  }
  const kinds = [["issue", "Issues"], ["pull request", "Pull requests"]];
  part("threads").replaceChildren(
    ...kinds.flatMap(([kind, heading]) => [
      made("h2", heading),
      ...state.threads.filter((each) => each.kind === kind).map(entry),
    ]),
  );
  part("traffic").replaceChildren(...state.traffic.map((line) => made("li", line)));
}

async function show(number) {
  const same = shown === number;
  shown = number;
  // The list first: what happens while the thread is on its way is then still news to `watch`.
  await list();
  // The server has escaped all that people wrote; what it sends is its own HTML.
  const text = await (await fetch(`/threads/${number}`)).text();
  const unfolded = [...document.querySelectorAll("#thread details")].map((each) => same && each.open);
  part("thread").innerHTML = text;
  document.querySelectorAll("#thread details").forEach((each, index) => (each.open = unfolded[index] || false));
  if (!same) {
    part("thread").scrollTo(0, 0);
    document.querySelector("nav .now")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
}

async function act(button) {
  const tags = [...document.querySelectorAll("#tags input:checked")].map((each) => each.value);
  const asked = {
    act: button.dataset.act,
    who: part("who").value,
    text: button.dataset.text || part("text").value,
    tags,
  };
  const answer = await fetch(`/threads/${shown}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(asked),
  });
  part("said").textContent = answer.ok ? "Done. The bot answers here." : await answer.text();
  if (answer.ok) {
    part("text").value = "";
    await show((await answer.json()).number);
  }
}

async function watch() {
  for (;;) {
    try {
      const next = (await (await fetch(`/changes?since=${encodeURIComponent(at)}`)).json()).at;
      if (next !== at) await show(shown);
    } catch {
      part("said").textContent = "The demo has ended.";
      return;
    }
  }
}

document.querySelectorAll("aside button").forEach((button) => (button.onclick = () => act(button)));
list().then(() => show(shown)).then(watch);
