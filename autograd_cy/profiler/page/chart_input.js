// Mouse, touch and keys of the flame chart.

/** Select an event, tell it, and show its details; `reveal` brings it into sight. */
function select(i, { reveal = false } = {}) {
  view.selected = i;
  if (i >= 0 && !byId("timeline").hidden) {
    scrollToRow(rowOf(i));
    if (reveal) view.reveal(i);
  }
  showDetails(i);
  view.changed();
  if (i >= 0) say(sentenceOf(i));
}

function scrollToRow(row) {
  const { box } = chart;
  if (row.y < box.scrollTop + AXIS + HEADER) box.scrollTop = row.y - AXIS - HEADER;
  else if (row.y + ROW > box.scrollTop + box.clientHeight) box.scrollTop = row.y + ROW + 8 - box.clientHeight;
}

/** From an operation to its first backward event, or from that to its operation. */
function goToPartner(i) {
  const partner = i < 0 ? -1 : events.forward[i] >= 0 ? events.forward[i] : (backwardOf(i)[0] ?? -1);
  if (partner < 0) return say("This event has no partner in the other direction.");
  select(partner);
  view.revealBoth(partner, i);
}

const step = {
  neighbour(i, by) {
    return rowOf(i).items[positionOf(i) + by] ?? i;
  },
  edge(i, last) {
    return last ? rowOf(i).items.at(-1) : rowOf(i).items[0];
  },
  parent: (i) => (events.parent[i] >= 0 ? events.parent[i] : i),
  child: (i) => childrenOf(i)[0] ?? i,
  thread(i, by) {
    const row = rows.find((r) => r.thread === events.thread[i] + by);
    return row ? row.items[Math.min(firstFrom(row, events.start[i]), row.items.length - 1)] : i;
  },
};

/** Move the selection; without one, begin with the first event in sight. */
function move(to) {
  if (!events.count) return;
  if (view.selected >= 0) return select(to(view.selected), { reveal: true });
  const row = rows[0];
  select(row.items[Math.min(firstFrom(row, view.from), row.items.length - 1)], { reveal: true });
}

const KEYS = {
  ArrowLeft: () => move((i) => step.neighbour(i, -1)),
  ArrowRight: () => move((i) => step.neighbour(i, 1)),
  ArrowUp: () => move(step.parent),
  ArrowDown: () => move(step.child),
  Home: () => move((i) => step.edge(i, false)),
  End: () => move((i) => step.edge(i, true)),
  PageUp: () => move((i) => step.thread(i, -1)),
  PageDown: () => move((i) => step.thread(i, 1)),
  Enter: () => openDetails(),
  "+": () => zoomByKey(0.6),
  "=": () => zoomByKey(0.6),
  w: () => zoomByKey(0.6),
  "-": () => zoomByKey(1 / 0.6),
  s: () => zoomByKey(1 / 0.6),
  a: () => panByKey(-0.2),
  d: () => panByKey(0.2),
  0: () => showAll(),
  f: () => view.selected >= 0 && view.zoomTo(view.selected),
  g: () => goToPartner(view.selected),
  n: () => goToMatch(1),
  p: () => goToMatch(-1),
  "?": () => (byId("keys").open = !byId("keys").open),
};
const SHIFTED = { ArrowLeft: () => panByKey(-0.2), ArrowRight: () => panByKey(0.2) };

function zoomByKey(factor) {
  view.zoom(factor);
  say(rangeText());
}

function panByKey(share) {
  view.pan(share);
  say(rangeText());
}

function showAll() {
  view.goTo(0, wholeTime);
  say("The whole time is shown.");
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const action = (event.shiftKey && SHIFTED[key]) || KEYS[key];
  if (!action) return;
  event.preventDefault();
  action();
}

/** The wheel zooms about the pointer, and sideways it moves. At either end of the zoom the page has its wheel back. */
function onWheel(event) {
  const bounds = event.currentTarget.getBoundingClientRect();
  const sideways = event.shiftKey ? event.deltaY : event.deltaX;
  const span = view.to - view.from;
  if (Math.abs(sideways) > Math.abs(event.deltaY) || event.shiftKey) {
    event.preventDefault();
    return view.pan(sideways / bounds.width);
  }
  if (event.deltaY > 0 && span >= wholeTime) return;
  event.preventDefault();
  const unit = event.deltaMode === 1 ? 24 : 1;
  const about =
    event.currentTarget === chart.box ? toTime(event.clientX - bounds.left) : view.from + span / 2;
  view.zoom(Math.exp(Math.max(-120, Math.min(120, event.deltaY * unit)) * 0.004), about);
}

const drag = { from: null, moved: false };

function onPress(event) {
  if (event.button !== 0 || event.offsetX > chart.width) return;
  drag.from = { x: event.clientX, y: event.clientY, begin: view.from, end: view.to, top: chart.box.scrollTop };
  drag.moved = false;
}

function onDrag(event) {
  if (!drag.from) return showTip(event);
  const [dx, dy] = [event.clientX - drag.from.x, event.clientY - drag.from.y];
  if (!drag.moved && Math.abs(dx) + Math.abs(dy) < 5) return;
  if (!drag.moved) chart.box.setPointerCapture(event.pointerId);
  drag.moved = true;
  hideTip();
  const by = (dx / chart.width) * (drag.from.end - drag.from.begin);
  chart.box.scrollTop = drag.from.top - dy;
  view.show(drag.from.begin - by, drag.from.end - by);
}

function onRelease(event) {
  if (drag.from && !drag.moved) {
    const bounds = chart.box.getBoundingClientRect();
    select(eventAt(event.clientX - bounds.left, event.clientY - bounds.top));
  }
  drag.from = null;
}

function showTip(event) {
  const bounds = chart.box.getBoundingClientRect();
  const i = eventAt(event.clientX - bounds.left, event.clientY - bounds.top);
  const tip = byId("tip");
  const text = i < 0 ? laneTip(event.clientX - bounds.left, event.clientY - bounds.top) : tipOf(i);
  tip.hidden = !text;
  if (!text) return;
  tip.replaceChildren(make("strong", {}, text[0]), make("span", {}, text[1]));
  tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
  tip.style.top = `${Math.min(event.clientY + 18, innerHeight - tip.offsetHeight - 8)}px`;
}

const tipOf = (i) => [nameOf(i), [formatTime(events.duration[i]), placeOf(i)].filter(Boolean).join(" · ")];
const hideTip = () => (byId("tip").hidden = true);

function startChart() {
  const { box } = chart;
  box.addEventListener("keydown", onKey);
  box.addEventListener("wheel", onWheel, { passive: false });
  box.addEventListener("pointerdown", onPress);
  box.addEventListener("pointermove", onDrag);
  box.addEventListener("pointerup", onRelease);
  box.addEventListener("pointercancel", () => (drag.from = null));
  box.addEventListener("pointerleave", hideTip);
  box.addEventListener("scroll", requestDraw, { passive: true });
  box.addEventListener("dblclick", () => view.selected >= 0 && view.zoomTo(view.selected));
  byId("zoom-in").addEventListener("click", () => zoomByKey(0.6));
  byId("zoom-out").addEventListener("click", () => zoomByKey(1 / 0.6));
  byId("zoom-all").addEventListener("click", showAll);
}
