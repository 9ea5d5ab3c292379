"use strict";
const part = (id) => document.getElementById(id);
let shown = null;
let at = "";

const made = (tag, text, properties = {}) =>
  Object.assign(document.createElement(tag), { textContent: text, ...properties });

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
  part("threads").replaceChildren(
    ...state.threads.map((each) => {
      const button = made("button", "", { className: each.number === shown ? "now" : "" });
      button.dataset.number = each.number;
      button.append(
        made("span", each.state, { className: `state ${each.state}` }),
        made("span", ` ${each.title}`),
        made("small", `#${each.number} by ${each.author}${each.comments ? ` · comments: ${each.comments}` : ""}`),
      );
      button.onclick = () => show(each.number);
      return button;
    }),
  );
  part("traffic").replaceChildren(...state.traffic.map((line) => made("li", line)));
}

async function show(number) {
  shown = number;
  // The server has escaped all that people wrote; what it sends is its own HTML.
  const text = await (await fetch(`/threads/${number}`)).text();
  const unfolded = [...document.querySelectorAll("#thread details")].map((each) => each.open);
  part("thread").innerHTML = text;
  document.querySelectorAll("#thread details").forEach((each, index) => (each.open = unfolded[index] || false));
  await list();
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
