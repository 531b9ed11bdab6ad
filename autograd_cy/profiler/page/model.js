// The model, as typed columns, and what is derived from it: self times, rows of the chart, the places in the source.

performance.mark("profile:parse");
const model = JSON.parse(byId("model").textContent);
byId("model").remove();

const events = (() => {
  const columns = model.events;
  const whole = (name) => Int32Array.from(columns[name]);
  const found = {
    start: Float64Array.from(columns.start),
    duration: Float64Array.from(columns.duration),
  };
  for (const name of ["name", "kind", "thread", "depth", "parent", "file", "line", "shape", "sequence", "forward"]) {
    found[name] = whole(name);
  }
  found.count = found.start.length;
  return found;
})();
model.events = null;

const selfTime = (() => {
  const self = Float64Array.from(events.duration);
  for (let i = 0; i < events.count; i += 1) {
    if (events.parent[i] >= 0) self[events.parent[i]] -= events.duration[i];
  }
  return self.map((ns) => Math.max(ns, 0));
})();

/** The rows of the chart, by thread and depth: the events of a row in order, and the sum of durations before each. */
const rows = (() => {
  const byPlace = new Map();
  for (let i = 0; i < events.count; i += 1) {
    const place = events.thread[i] * 65536 + events.depth[i];
    const row = byPlace.get(place);
    if (row) row.push(i);
    else byPlace.set(place, [i]);
  }
  return [...byPlace.keys()].sort((a, b) => a - b).map((place) => makeRow(place, byPlace.get(place)));
})();

function makeRow(place, list) {
  const items = Int32Array.from(list);
  // A recorder hands them over in order; a sort of what is sorted is cheap.
  items.sort((a, b) => events.start[a] - events.start[b] || a - b);
  const busy = new Float64Array(items.length + 1);
  items.forEach((i, k) => (busy[k + 1] = busy[k] + events.duration[i]));
  return { thread: Math.floor(place / 65536), depth: place % 65536, items, busy, hits: null, y: 0 };
}

const rowOf = (() => {
  const found = new Map(rows.map((row) => [row.thread * 65536 + row.depth, row]));
  return (i) => found.get(events.thread[i] * 65536 + events.depth[i]);
})();

/** The first position of a row, from `low` on, whose event starts at `time` or later. */
function firstFrom(row, time, low = 0) {
  let high = row.items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (events.start[row.items[middle]] < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The position of an event in its row. */
function positionOf(i) {
  const row = rowOf(i);
  let k = firstFrom(row, events.start[i]);
  while (row.items[k] !== i) k += 1;
  return k;
}

const SPACES = /^(aten::|torch::autograd::|autograd::(engine|threads)::)/;
const shortNames = model.names.map((name) => name.replace(SPACES, ""));
const nameOf = (i) => model.names[events.name[i]];
const kindOf = (i) => model.kinds[events.kind[i]];
const endOf = (i) => events.start[i] + events.duration[i];
const baseName = (path) => path.split(/[\\/]/).at(-1);

function placeText(file, line) {
  return line > 0 ? `${baseName(file)}:${line}` : baseName(file);
}

const placeOf = (i) => (events.file[i] < 0 ? "" : placeText(model.files[events.file[i]], events.line[i]));

/** The text of a line where a table of the model has it. */
const sourceOf = (() => {
  const found = new Map();
  for (const row of [...model.lines, ...model.hints]) {
    if (row.source) found.set(`${row.file}:${row.line}`, row.source.trim());
  }
  return (i) => (events.file[i] < 0 ? "" : found.get(`${model.files[events.file[i]]}:${events.line[i]}`) ?? "");
})();

/** The backward events that run the nodes of each operation. */
const backwardOf = (() => {
  const found = new Map();
  for (let i = 0; i < events.count; i += 1) {
    const from = events.forward[i];
    if (from < 0) continue;
    if (found.has(from)) found.get(from).push(i);
    else found.set(from, [i]);
  }
  return (i) => found.get(i) ?? [];
})();

function childrenOf(i) {
  const found = [];
  for (let k = 0; k < events.count; k += 1) if (events.parent[k] === i) found.push(k);
  return found;
}

/** The longest event for which `fits` holds, or -1. */
function longestWhere(fits) {
  let best = -1;
  for (let i = 0; i < events.count; i += 1) {
    if (fits(i) && (best < 0 || events.duration[i] > events.duration[best])) best = i;
  }
  return best;
}
