"use strict";
const part = (id) => document.getElementById(id);
const all = (selector) => [...document.querySelectorAll(selector)];
let threads = [];
let shown = null; // the thread that is acted on
let story = 0; // the number of the story's pull request; 0 until it is there
let at = "";
let reviewing = false; // whether the next click is on "Request changes", outside the guide
let follow = false; // whether what is new is brought into view: from an act on, till somebody looks elsewhere

const element = (tag, text, properties = {}) =>
  Object.assign(document.createElement(tag), { textContent: text, ...properties });

function icon(kind, state, label) {
  const space = "http://www.w3.org/2000/svg";
  const drawing = document.createElementNS(space, "svg");
  const use = document.createElementNS(space, "use");
  use.setAttribute("href", `#i-${kind}`);
  drawing.setAttribute("class", `icon ${state}`);
  drawing.setAttribute("role", "img");
  drawing.setAttribute("aria-label", label);
  drawing.append(use);
  return drawing;
}

function entry(each) {
  const link = element("a", "", { href: each.path, className: each === shown ? "now" : "" });
  const kind = each.state === "open" ? (each.kind === "issue" ? "issue" : "pull") : each.state;
  const words = element("span", "");
  const small = element("small", "");
  small.append(element("span", `#${each.number} opened ${each.opened} by ${each.author}`));
  if (each.comments) {
    const count = element("span", "", { className: "count" });
    count.append(icon("comment", "", "comments"), String(each.comments));
    small.append(count);
  }
  words.append(element("strong", each.title), small);
  link.append(icon(kind, each.state, each.state), words);
  return link;
}

function offer(people, tags) {
  part("who").replaceChildren(...people.map((login) => element("option", login)));
  part("tags").replaceChildren(
    ...tags.map((tag) => {
      const label = element("label", "");
      label.append(element("input", "", { type: "checkbox", value: tag, checked: tag === tags[0] }), ` ${tag}`);
      return label;
    }),
  );
}

// One button at a time is the next; the last one invites to go on.
function guide(step) {
  all("#guide li").forEach((item, index) => {
    item.className = index < step ? "done" : index === step && story && !reviewing ? "next" : "";
    item.querySelector("button").disabled = index !== step || !story;
  });
}

function wireLine({ direction, request, status }) {
  const line = element("li", "", { className: direction.startsWith("bot") ? "out" : "in" });
  line.append(element("small", direction), element("code", request), element("span", status));
  return line;
}

// What there is, and which of it is looked at; a file belongs to the thread that it was opened from.
async function list() {
  const state = await (await fetch("/threads")).json();
  at = state.at;
  threads = state.threads;
  if (!part("who").length) offer(state.people, state.tags);
  story = state.story;
  [part("owner").textContent, part("name").textContent] = state.repository.split("/");
  guide(state.step);
  part("agent").replaceChildren(...state.agent.map((line) => element("code", line)));
  const first = threads.find((each) => each.number === story);
  if (location.pathname === "/" && first) history.replaceState(null, "", first.path);
  shown =
    threads.find((each) => each.path === location.pathname) ||
    threads.find((each) => each.number === shown?.number) ||
    first;
  const kinds = [["issue", "Issues"], ["pull request", "Pull requests"]];
  part("threads").replaceChildren(
    ...kinds.flatMap(([kind, heading]) => [
      element("h2", heading),
      ...threads.filter((each) => each.kind === kind).map(entry),
    ]),
  );
  part("wire").replaceChildren(...state.wire.map(wireLine));
  const isOpen = shown?.kind === "pull request" && shown.state === "open";
  all("[data-open]").forEach((button) => (button.disabled = !isOpen));
}

const entries = () => new Map(all("#thread [id]").map((each) => [each.id, each.querySelector(".body")?.innerHTML]));

function folds() {
  return all("#thread details").map((each) => {
    const within = each.closest("[id]");
    const number = [...(within?.querySelectorAll("details") || [])].indexOf(each);
    return [`${within?.id} ${number}`, each];
  });
}

// What is as it was stays as it is: nobody loses a selection, or a fold that they opened.
function put(text, whole) {
  const wanted = [...element("template", "", { innerHTML: text }).content.children];
  wanted.forEach((each) => (each.source = each.outerHTML));
  const main = part("thread");
  if (whole) return main.replaceChildren(...wanted);
  wanted.forEach((each, index) => {
    const before = main.children[index];
    if (!before) main.append(each);
    else if (before.source !== each.source) before.replaceWith(each);
  });
  [...main.children].slice(wanted.length).forEach((each) => each.remove());
}

async function show({ arrived = false, first = false } = {}) {
  // The list first: what happens while the thread is on its way is then still news to `watch`.
  const wasWaiting = location.pathname === "/";
  await list();
  const path = location.pathname;
  if (path === "/") return put("<header><h1>The weeks before the story are being played …</h1></header>", true);
  if (wasWaiting) arrived = first = true;
  // The server has escaped all that people wrote; what it sends is its own HTML.
  const text = await (await fetch(`/view${path}`)).text();
  if (path !== location.pathname) return;
  const before = entries();
  const unfolded = new Set(folds().filter(([, each]) => each.open).map(([key]) => key));
  put(text, arrived);
  const title = document.querySelector("#thread h1")?.textContent || "";
  document.title = `${title} · Whetstone’s demo`;
  part("title").textContent = `/ ${title}`;
  if (arrived) return arrive(first);
  folds().forEach(([key, each]) => (each.open = unfolded.has(key)));
  const news = [...entries()].filter(([id, body]) => !before.has(id) || before.get(id) !== body);
  bring(news.map(([id]) => part(id)));
}

function arrive(first) {
  part("thread").scrollTo(0, 0);
  scrollTo(0, 0);
  document.querySelector("nav .now")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  const place = location.hash ? part(decodeURIComponent(location.hash.slice(1))) : null;
  // Where the columns are below each other, that would hide where one is.
  const feedback = first && innerWidth > 1100 ? all("#thread .rejection").pop() : null;
  (place || feedback)?.scrollIntoView({ block: "start" });
  place?.classList.add("fresh");
}

function bring(news) {
  news.forEach((each) => each.classList.add("fresh"));
  // A superseded comment changes last, and says nothing new.
  const telling = news.filter((each) => !each.querySelector(".minimised") && !/Superseded by/.test(each.textContent));
  const newest = telling.filter((each) => each.matches(".bot")).pop() || telling.pop();
  if (newest && follow) newest.scrollIntoView({ block: "start", behavior: "smooth" });
}

function go(path) {
  history.pushState(null, "", path);
  return show({ arrived: true });
}

async function act(button) {
  const action = {
    act: button.dataset.act,
    who: button.dataset.who || part("who").value,
    text: button.dataset.text || part("text").value,
    tags: all("#tags input:checked").map((each) => each.value),
  };
  const number = button.closest("#guide") ? story : shown.number;
  const answer = await fetch(`/threads/${number}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(action),
  });
  const isOpened = action.act === "open";
  const done = isOpened ? "Opened. Now request changes." : "Done. The bot's answer appears in the thread.";
  part("status").textContent = answer.ok ? done : await answer.text();
  if (!answer.ok) return;
  reviewing = isOpened;
  part("reject").classList.toggle("next", reviewing);
  // On a phone the controls are folded: unfold them for the next click, and fold them to show the answer.
  unfold(reviewing);
  part("text").value = "";
  follow = true;
  const { path } = await answer.json();
  await (path === location.pathname ? show() : go(path));
}

function unfold(isUnfolded) {
  part("more").setAttribute("aria-expanded", String(isUnfolded));
  part("more").textContent = isUnfolded ? "Less" : "More";
}

function ended() {
  part("status").textContent = "The demo has ended.";
}

async function watch() {
  for (;;) {
    const next = (await (await fetch(`/changes?since=${encodeURIComponent(at)}`)).json()).at;
    if (next !== at) await show();
  }
}

for (const moved of ["wheel", "touchmove", "pointerdown"])
  part("thread").addEventListener(moved, () => (follow = false), { passive: true });
all("[data-act]").forEach((button) => (button.onclick = () => act(button).catch(ended)));
part("more").onclick = () => unfold(part("more").getAttribute("aria-expanded") !== "true");
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='/']");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  part("status").textContent = "";
  follow = false;
  go(link.getAttribute("href")).catch(ended);
});
addEventListener("popstate", () => show({ arrived: true }).catch(ended));
show({ arrived: true, first: location.pathname === "/" }).then(watch).catch(ended);
