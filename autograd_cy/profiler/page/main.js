// The page: its figures, its tabs, and the order in which all begins.

function figures() {
  const found = [
    ["Time", formatTime(model.end)],
    ["Events", formatCount(events.count)],
    ["Threads", formatCount(model.threads.length)],
  ];
  if (model.memory) found.push(["Peak memory", formatBytes(model.memory.peak.bytes)]);
  const gain = model.hints.reduce((sum, hint) => sum + Math.max(hint.gain_ns ?? 0, 0), 0);
  found.push(["Hints", model.hints.length ? `${model.hints.length}${gain ? `, saving ${formatTime(gain)}` : ""}` : "none"]);
  if (model.dropped) found.push(["Dropped", `${formatCount(model.dropped)} events: the ring was full`]);
  byId("figures").replaceChildren(...found.map(([term, value]) => make("div", {}, make("dt", {}, term), make("dd", {}, value))));
}

function legend() {
  const self = new Map();
  for (let i = 0; i < events.count; i += 1) self.set(kindOf(i), (self.get(kindOf(i)) ?? 0) + selfTime[i]);
  const whole = [...self.values()].reduce((sum, ns) => sum + ns, 0);
  const items = [...self].sort((a, b) => b[1] - a[1]).map(([kind, ns]) =>
    make("li", {}, make("span", { class: `swatch ${kindClass(kind)}`, "aria-hidden": "true" }),
      `${kindName(kind)} `, make("span", { class: "number" }, formatShare(ns, whole))));
  byId("legend").replaceChildren(...items);
}

const tabs = [...document.querySelectorAll("[role=tab]")];

/** What a tab shows is made when it is first shown, and what depends on its width each time. */
const onShow = { timeline: () => (resizeOverview(), resizeChart()), memory: drawMemory };
const onFirst = { operations: startOperations, lines: startLines, graph: startGraph, hints: startHints };

function showTab(name, focus = false) {
  if (name === "timeline" && !byId("timeline").hidden && chart.context) return;
  for (const tab of tabs) {
    const on = tab.getAttribute("aria-controls") === name;
    tab.setAttribute("aria-selected", String(on));
    tab.tabIndex = on ? 0 : -1;
    byId(tab.getAttribute("aria-controls")).hidden = !on;
    if (on && focus) tab.focus();
  }
  onFirst[name]?.();
  delete onFirst[name];
  onShow[name]?.();
}

function onTabKey(event) {
  const at = tabs.indexOf(event.target);
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
  if (at < 0 || to === undefined) return;
  event.preventDefault();
  showTab(tabs[(to + tabs.length) % tabs.length].getAttribute("aria-controls"), true);
}

function startTabs() {
  for (const tab of tabs) tab.addEventListener("click", () => showTab(tab.getAttribute("aria-controls")));
  byId("tabs").addEventListener("keydown", onTabKey);
  if (model.hints.length) byId("tab-hints").append(make("span", { class: "badge" }, String(model.hints.length)));
}

let shownWidth = 0;
function onResize() {
  // Heights change with what is shown; only another width asks for other pictures.
  if (byId("main").clientWidth === shownWidth) return;
  shownWidth = byId("main").clientWidth;
  const shown = tabs.find((tab) => tab.getAttribute("aria-selected") === "true").getAttribute("aria-controls");
  onShow[shown]?.();
}

view.listeners.push(requestDraw, drawOverview, () => {
  byId("range").textContent = `${formatTime(view.to - view.from)} of ${formatTime(wholeTime)}`;
});

startTheme();
figures();
legend();
layRows();
startSearch();
startTabs();
startChart();
startOverview();
startDetails();
showTab("timeline");
view.changed();
new ResizeObserver(onResize).observe(byId("main"));
byId("footer").textContent = "Made by autograd_cy.profiler. This page is one file and fetches nothing.";
performance.measure("profile:open"); // from the navigation until all of it answers
document.documentElement.dataset.ready = "true";
