// Live bytes over time: a curve with its peak, and a reading that the arrow keys move.

const MEMORY = { width: 1000, height: 300, left: 74, right: 16, top: 26, bottom: 30 };

/**
 * The curve's points in an interval, at most four a pixel: within a pixel the first, the least, the greatest and the last
 * tell all.
 */
function thinned(begin, end, width) {
  const { time, bytes } = model.memory;
  const found = [];
  const stop = countUntil(end);
  const all = stop - countUntil(begin) <= 4 * width;
  for (let from = countUntil(begin), to; from < stop; from = to) {
    const pixel = Math.floor(((time[from] - begin) / (end - begin)) * width);
    to = all ? from + 1 : Math.min(Math.max(countUntil(begin + ((pixel + 1) / width) * (end - begin)), from + 1), stop);
    const picked = new Set([from, to - 1, extreme(bytes, from, to, -1), extreme(bytes, from, to, 1)]);
    for (const k of [...picked].sort((a, b) => a - b)) found.push([time[k], bytes[k]]);
  }
  return found;
}

/** How many changes of memory there are until a time, with those at the time itself. */
function countUntil(time) {
  const times = model.memory.time;
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

function extreme(values, from, to, sign) {
  let best = from;
  for (let k = from; k < to; k += 1) if (sign * values[k] > sign * values[best]) best = k;
  return best;
}

/** The bytes that live at a time. */
function bytesAt(time) {
  // What lived before the first change is not known: then it's what the first change left.
  return model.memory.bytes[Math.max(countUntil(time) - 1, 0)] ?? 0;
}

/** The least of the curve: below 0 where more is given back than was taken since the recording began. */
const leastBytes = model.memory ? model.memory.bytes.reduce((a, b) => Math.min(a, b), 0) : 0;

function memoryScales(width) {
  const most = Math.max(model.memory.peak.bytes, 1) * 1.08;
  const least = leastBytes * 1.08;
  const { left, right, top, bottom, height } = MEMORY;
  return {
    most,
    x: (time) => left + (time / wholeTime) * (width - left - right),
    least,
    y: (bytes) => height - bottom - ((bytes - least) / (most - least)) * (height - top - bottom),
    time: (x) => ((x - left) / (width - left - right)) * wholeTime,
  };
}

function memoryAxes(scales, width) {
  const { left, right, height, bottom } = MEMORY;
  const parts = [];
  const levels = ticks(scales.least, scales.most, 5);
  for (const bytes of levels.found) {
    const y = scales.y(bytes);
    parts.push(makeSvg("line", { class: "grid", x1: left, x2: width - right, y1: y, y2: y }));
    parts.push(makeSvg("text", { x: left - 8, y: y + 4, "text-anchor": "end" }, formatTick(bytes, levels.step, scales.most, BYTES)));
  }
  const times = ticks(0, wholeTime, (width - left) / 110);
  for (const time of times.found) {
    const text = formatTick(time, times.step, wholeTime, TIMES);
    parts.push(makeSvg("text", { x: scales.x(time), y: height - bottom + 20, "text-anchor": time ? "middle" : "start" }, text));
  }
  return parts;
}

function memoryCurve(scales, width) {
  const points = thinned(0, wholeTime, width);
  let path = `M${scales.x(0)},${scales.y(bytesAt(0))}`;
  for (const [time, bytes] of points) path += `H${scales.x(time).toFixed(1)}V${scales.y(bytes).toFixed(1)}`;
  path += `H${scales.x(wholeTime)}`;
  const base = scales.y(0);
  return [
    makeSvg("path", { class: "area", d: `${path}V${base}H${scales.x(0)}Z` }),
    makeSvg("path", { class: "curve", d: path }),
  ];
}

function memoryPeak(scales, width) {
  const { time, bytes } = model.memory.peak;
  const [x, y] = [scales.x(time), scales.y(bytes)];
  const before = x > width - 150;
  return [
    makeSvg("circle", { class: "peak", cx: x, cy: y, r: 5.5 }),
    makeSvg("text", { class: "peak-text", x: before ? x - 10 : x + 10, y: y - 7, "text-anchor": before ? "end" : "start" },
      `peak ${formatBytes(bytes)}`),
  ];
}

/** The reading is a slider over time: that is how a curve can be read by keys and by ear. */
function makeReading(scales, width) {
  const line = makeSvg("line", { class: "cursor", y1: MEMORY.top, y2: MEMORY.height - MEMORY.bottom });
  const dot = makeSvg("circle", { class: "cursor-dot", r: 4 });
  const text = make("output", { class: "reading" });
  const box = make("div", { class: "memory-chart", role: "slider", tabindex: "0", "aria-label": "Live bytes at a time",
    "aria-valuemin": "0", "aria-valuemax": String(wholeTime) });
  const read = (time) => {
    const at = Math.min(Math.max(time, 0), wholeTime);
    const bytes = bytesAt(at);
    const said = `${formatTime(at)}: ${formatBytes(bytes)}`;
    assign(box, { "aria-valuenow": String(Math.round(at)), "aria-valuetext": said });
    assign(line, { x1: scales.x(at), x2: scales.x(at) });
    assign(dot, { cx: scales.x(at), cy: scales.y(bytes) });
    text.textContent = said;
    box.reading = at;
  };
  box.addEventListener("pointermove", (event) => read(scales.time(event.clientX - box.getBoundingClientRect().left)));
  box.addEventListener("keydown", (event) => memoryKey(event, read, box.reading));
  read(model.memory.peak.time);
  return { box, text, parts: [line, dot] };
}

function memoryKey(event, read, at) {
  const by = { ArrowLeft: -0.01, ArrowDown: -0.01, ArrowRight: 0.01, ArrowUp: 0.01, PageDown: -0.1, PageUp: 0.1 }[event.key];
  if (by !== undefined) read(at + by * wholeTime);
  else if (event.key === "Home") read(0);
  else if (event.key === "End") read(wholeTime);
  else return;
  event.preventDefault();
}

function peakText() {
  const { peak } = model.memory;
  const parts = [make("strong", {}, formatBytes(peak.bytes)), ` are alive at the peak, at ${formatTime(peak.time)}`];
  if (peak.file) parts.push(", held by ", make("code", {}, placeText(peak.file, peak.line)));
  const text = make("p", { class: "lead" }, ...parts, ".");
  return peak.source ? [text, make("pre", { class: "source" }, peak.source.trim())] : [text];
}

function showMoment(time) {
  const span = Math.min(wholeTime / 8, view.to - view.from);
  showTab("timeline");
  view.goTo(time - span / 2, time + span / 2);
  const i = longestWhere((k) => events.start[k] <= time && endOf(k) >= time && selfTime[k] > 0);
  if (i >= 0) select(innermostAt(time));
}

/** The innermost event of any thread that is open at a time, or -1. */
function innermostAt(time) {
  let best = -1;
  for (let k = 0; k < events.count; k += 1) {
    const open = events.start[k] <= time && endOf(k) >= time;
    if (open && (best < 0 || events.depth[k] >= events.depth[best])) best = k;
  }
  return best;
}

function drawMemory() {
  const place = byId("memory-view");
  if (!model.memory || !model.memory.time.length) {
    place.replaceChildren(make("p", { class: "lead" }, "No memory was recorded: profile with profile_memory=True."));
    return;
  }
  const width = Math.max(place.clientWidth - 2, 300);
  const scales = memoryScales(width);
  const { box, text, parts } = makeReading(scales, width);
  box.append(makeSvg("svg", { width, height: MEMORY.height, viewBox: `0 0 ${width} ${MEMORY.height}`, "aria-hidden": "true" },
    ...memoryAxes(scales, width), ...memoryCurve(scales, width), ...parts, ...memoryPeak(scales, width)));
  const go = () => showMoment(box.reading);
  place.replaceChildren(...peakText(), box, make("div", { class: "bar" },
    make("p", { class: "range" }, "At ", text),
    make("button", { type: "button", class: "quiet", onclick: go }, "Show this moment in the timeline")));
}
