// The selected event: a sentence that is read out, and a panel with all that is known of it.

const KIND_NAMES = {
  op: "operation",
  backward: "backward",
  engine: "engine",
  function: "Python function",
  hook: "hook",
  region: "region",
};
const kindName = (kind) => KIND_NAMES[kind] ?? kind;

function rangeText() {
  const [from, to] = [formatTime(view.from), formatTime(view.to)];
  return `${from} to ${to}, ${formatTime(view.to - view.from)} of ${formatTime(wholeTime)}`;
}

function sentenceOf(i) {
  const inside = childrenOf(i).length;
  const parts = [
    `${nameOf(i)}, ${kindName(kindOf(i))}`,
    formatTime(events.duration[i]),
    inside ? `self ${formatTime(selfTime[i])}, ${inside} inside` : "",
    placeOf(i),
    events.forward[i] >= 0 ? `backward of ${nameOf(events.forward[i])}` : "",
  ];
  return parts.filter(Boolean).join(", ");
}

/** A button that leads to another event. */
function eventLink(i, label = nameOf(i)) {
  const go = () => {
    select(i, { reveal: true });
    chart.box.focus();
  };
  return make("button", { type: "button", class: "link", onclick: go }, label);
}

/** A button from an operation to its backward event, or back; both are shown, with the arrow between them. */
function partnerLink(i, partner, arrow) {
  const go = () => {
    select(partner);
    view.revealBoth(partner, i);
    chart.box.focus();
  };
  return make("button", { type: "button", class: "link", onclick: go }, `${arrow} ${nameOf(partner)}`);
}

function facts(i) {
  const [duration, self] = [events.duration[i], selfTime[i]];
  const place = placeOf(i);
  const source = sourceOf(i);
  return [
    ["Duration", `${formatTime(duration)} (${formatShare(duration, wholeTime)} of all)`],
    ["Self", `${formatTime(self)} (${formatShare(self, duration)} of it)`],
    ["Start", formatTime(events.start[i])],
    ["Shapes", events.shape[i] >= 0 ? make("code", {}, model.shapes[events.shape[i]]) : null],
    ["Source", place ? make("span", { title: model.files[events.file[i]] }, make("code", {}, place)) : null],
    ["", source ? make("pre", { class: "source" }, source) : null],
    ["Thread", model.threads[events.thread[i]] ?? null],
    ["Sequence", events.sequence[i] >= 0 ? `number ${formatCount(events.sequence[i])}` : null],
  ].filter(([, value]) => value !== null);
}

function links(i) {
  const found = [];
  if (events.forward[i] >= 0) found.push(["Forward", [partnerLink(i, events.forward[i], "←")]]);
  const backward = backwardOf(i);
  if (backward.length) found.push(["Backward", backward.slice(0, 6).map((b) => partnerLink(i, b, "→"))]);
  if (events.parent[i] >= 0) found.push(["Inside", [eventLink(events.parent[i], `↑ ${shortNames[events.name[events.parent[i]]]}`)]]);
  return found;
}

/** The longest of the events inside, with a bar for the share of each. */
function insideList(i) {
  const children = childrenOf(i);
  if (!children.length) return null;
  const longest = [...children].sort((a, b) => events.duration[b] - events.duration[a]).slice(0, 6);
  const items = longest.map((c) =>
    make("li", { style: `--share:${((100 * events.duration[c]) / events.duration[i]).toFixed(1)}%` },
      eventLink(c), make("span", { class: "number" }, formatTime(events.duration[c]))),
  );
  const title = children.length > longest.length ? `Longest of ${formatCount(children.length)} inside` : "Inside it";
  return make("section", {}, make("h4", {}, title), make("ul", { class: "inside" }, ...items));
}

function showDetails(i) {
  const panel = byId("details");
  if (i < 0) {
    panel.replaceChildren(
      make("h3", {}, "No event selected"),
      make("p", { class: "lead" }, "Click an event, or go to the chart and press an arrow key: what is known of it stands here."),
      ...mostTime(),
    );
    return;
  }
  const rowsOfFacts = [
    ...facts(i).map(([term, value]) => (term ? [make("dt", {}, term), make("dd", {}, value)] : [make("dd", { class: "whole" }, value)])),
    ...links(i).map(([term, values]) => [make("dt", {}, term), make("dd", {}, ...values)]),
  ];
  const kind = kindClass(kindOf(i));
  panel.replaceChildren(
    make("p", { class: "kind" }, make("span", { class: `swatch ${kind}`, "aria-hidden": "true" }), kindName(kindOf(i))),
    make("h3", {}, nameOf(i)),
    make("dl", { class: "facts" }, ...rowsOfFacts.flat()),
    insideList(i) ?? "",
    make("button", { type: "button", class: "quiet", onclick: () => view.zoomTo(i) }, "Zoom to it"),
  );
}

/** Before anything is selected: where most of the time goes. */
function mostTime() {
  const top = [...model.table].sort((a, b) => b.self_ns - a.self_ns).slice(0, 6);
  if (!top.length) return [];
  const items = top.map((row) =>
    make("li", { style: `--share:${((100 * row.self_ns) / Math.max(top[0].self_ns, 1)).toFixed(1)}%` },
      make("button", { type: "button", class: "link", onclick: () => selectLongest(row.name) }, row.name),
      make("span", { class: "number" }, formatTime(row.self_ns))),
  );
  return [make("h4", {}, "Most self time"), make("ul", { class: "inside" }, ...items)];
}

/** Go to the longest event of a name. */
function selectLongest(name) {
  const number = model.names.indexOf(name);
  const i = longestWhere((k) => events.name[k] === number);
  if (i < 0) return;
  showTab("timeline");
  select(i, { reveal: true });
  chart.box.focus();
}

function openDetails() {
  if (view.selected < 0) return move((i) => i);
  byId("details").focus();
}

/** Escape in the panel leads back to the chart. */
function startDetails() {
  byId("details").addEventListener("keydown", (event) => event.key === "Escape" && chart.box.focus());
  showDetails(-1);
}
