// The flame chart: rows of events over time, drawn on one canvas that stays in sight while its rows scroll.

const AXIS = 26;
const HEADER = 22;
const ROW = 24;
const MERGED = 2; // events narrower than this many pixels are drawn together
const FONT = "12.5px system-ui, sans-serif";

const chart = { box: byId("chart"), canvas: byId("canvas"), context: null, width: 0, height: 0, content: 0, waiting: false };

/** Give each row its place below the axis; a header stands before the rows of each thread. */
function layRows() {
  let y = AXIS;
  let thread = -1;
  chart.headers = [];
  for (const row of rows) {
    if (row.thread !== thread) {
      y += thread < 0 ? 0 : 8;
      thread = row.thread;
      chart.headers.push({ text: model.threads[thread] ?? `Thread ${thread}`, y });
      y += HEADER;
    }
    row.y = y;
    y += ROW;
  }
  chart.content = layLane(y) + 8;
  byId("spacer").style.height = `${chart.content}px`;
  chart.box.style.height = `min(${chart.content + 2}px, max(20rem, 64vh))`;
}

/** Fit a canvas to its place, in device pixels; its context draws in CSS pixels. */
function fitCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

function resizeChart() {
  const { clientWidth, clientHeight } = chart.box;
  if (!clientWidth || !clientHeight) return; // its tab is hidden
  Object.assign(chart, { width: clientWidth, height: clientHeight });
  chart.context = fitCanvas(chart.canvas, clientWidth, clientHeight);
  drawChart();
}

function requestDraw() {
  if (chart.waiting) return;
  chart.waiting = true;
  requestAnimationFrame(() => {
    chart.waiting = false;
    drawChart();
  });
}

const toX = (time) => ((time - view.from) / (view.to - view.from)) * chart.width;
const toTime = (x) => view.from + (x / chart.width) * (view.to - view.from);

function drawChart() {
  const { context, width, height } = chart;
  if (!context) return;
  context.clearRect(0, 0, width, height);
  context.font = FONT;
  context.textBaseline = "middle";
  const axis = ticks(view.from, view.to, width / 110);
  drawGrid(axis);
  const top = chart.box.scrollTop;
  for (const row of rows) {
    const y = row.y - top;
    if (y > AXIS - ROW && y < height) drawRow(row, y);
  }
  for (const header of chart.headers) drawHeader(header, header.y - top);
  drawLane(top);
  drawSelection(top);
  drawAxis(axis);
  // What is shown, for those who can't see it, and for tests.
  Object.assign(chart.box.dataset, { from: view.from, to: view.to, selected: view.selected });
}

function drawRow(row, y) {
  const { items } = row;
  const scale = chart.width / (view.to - view.from);
  // Events of a row don't overlap: at most one begins before the interval and reaches into it.
  let k = Math.max(firstFrom(row, view.from) - 1, 0);
  while (k < items.length) {
    const i = items[k];
    const x = (events.start[i] - view.from) * scale;
    if (x > chart.width) break;
    const wide = events.duration[i] * scale;
    if (wide >= MERGED) {
      if (x + wide > 0) drawEvent(i, x, wide, y);
      k += 1;
    } else {
      k = drawMerged(row, k, x, y, scale);
    }
  }
}

/** One block for all events that begin within two pixels; the busier they are, the more solid. Returns what comes next. */
function drawMerged(row, k, x, y, scale) {
  const { items, busy, hits } = row;
  const right = Math.floor(x) + MERGED;
  let next = Math.max(firstFrom(row, view.from + right / scale, k), k + 1);
  // Only the last can reach beyond the block: it is drawn by itself.
  if (next - 1 > k && events.duration[items[next - 1]] * scale >= MERGED) next -= 1;
  const share = ((busy[next] - busy[k]) * scale) / MERGED;
  const dimmed = search.active && hits[next] === hits[k];
  const { context } = chart;
  context.globalAlpha = dimmed ? 0.15 : Math.min(1, 0.45 + 0.55 * share);
  const kind = kindClass(kindOf(items[k]));
  context.fillStyle = search.active && !dimmed ? palette.mark : palette[`${kind}-dense`];
  context.fillRect(Math.floor(x), y + 1, MERGED, ROW - 2);
  context.globalAlpha = 1;
  return next;
}

function drawEvent(i, x, wide, y) {
  const { context } = chart;
  const left = Math.max(x, -4);
  const right = Math.min(x + wide, chart.width + 4);
  const dimmed = search.active && !search.matches[i];
  context.globalAlpha = dimmed ? 0.22 : 1;
  context.fillStyle = fillOf(i);
  const body = Math.max(right - left - 1, 1);
  context.fillRect(left, y + 1, body, ROW - 2);
  if (body > 5) {
    context.fillStyle = palette[`${kindClass(kindOf(i))}-edge`];
    context.fillRect(left, y + 1, 2, ROW - 2);
  }
  context.globalAlpha = 1;
  if (search.active && !dimmed) outline(left, y + 1, body, ROW - 2, palette.mark, 2);
  if (!dimmed) drawLabel(i, Math.max(left, 0) + 7, Math.min(right, chart.width) - 5, y + ROW / 2 + 0.5);
}

function outline(x, y, width, height, colour, thick) {
  const { context } = chart;
  context.strokeStyle = colour;
  context.lineWidth = thick;
  context.strokeRect(x + thick / 2, y + thick / 2, Math.max(width - thick, 1), height - thick);
}

const textWidths = new Map();
function textWidth(text) {
  let width = textWidths.get(text);
  if (width === undefined) textWidths.set(text, (width = chart.context.measureText(text).width));
  return width;
}

/** A text cut to a width, or nothing where not even three letters fit. */
function fitted(text, width) {
  const whole = textWidth(text);
  if (whole <= width) return text;
  const letters = Math.floor(((width - textWidth("…")) / whole) * text.length);
  return letters < 3 ? "" : `${text.slice(0, letters)}…`;
}

/** The name, and the duration where there is room for it, too. */
function drawLabel(i, left, right, y) {
  if (right - left < 18) return;
  const { context } = chart;
  const name = shortNames[events.name[i]];
  const label = fitted(name, right - left);
  context.fillStyle = palette.ink;
  context.fillText(label, left, y);
  if (label !== name || right - left < textWidth(name) + 66) return;
  const time = formatTime(events.duration[i]);
  context.fillStyle = palette.ink;
  context.globalAlpha = 0.8;
  context.fillText(time, left + textWidth(name) + 10, y);
  context.globalAlpha = 1;
}

function drawGrid({ found }) {
  const { context, height } = chart;
  context.fillStyle = palette.line;
  for (const time of found) context.fillRect(Math.round(toX(time)), AXIS, 1, height - AXIS);
}

function drawAxis({ step, found }) {
  const { context, width } = chart;
  context.fillStyle = palette.surface;
  context.fillRect(0, 0, width, AXIS);
  context.fillStyle = palette.line;
  context.fillRect(0, AXIS - 1, width, 1);
  context.fillStyle = palette.muted;
  for (const time of found) {
    const text = formatTick(time, step, view.to, TIMES);
    const x = toX(time);
    if (x + textWidth(text) + 6 < width) context.fillText(text, x + 5, AXIS / 2);
    context.fillRect(Math.round(x), AXIS - 7, 1, 6);
  }
}

function drawHeader({ text, note }, top) {
  if (top < AXIS - HEADER || top > chart.height) return;
  const { context } = chart;
  context.fillStyle = palette.ground;
  context.fillRect(0, top, chart.width, HEADER - 2);
  context.fillStyle = palette.muted;
  context.font = `600 ${FONT}`;
  context.fillText(text, 7, top + HEADER / 2 - 1);
  const after = context.measureText(text).width + 18;
  context.font = FONT;
  if (note) context.fillText(note, after, top + HEADER / 2 - 1);
}

/** Where an event is drawn: its box, at least three pixels wide. */
function boxOf(i, top) {
  const x = toX(events.start[i]);
  const wide = Math.max((events.duration[i] / (view.to - view.from)) * chart.width - 1, 3);
  return { x, y: rowOf(i).y - top + 1, width: wide, height: ROW - 2 };
}

function drawSelection(top) {
  const i = view.selected;
  if (i < 0) return;
  const pairs = events.forward[i] >= 0 ? [[events.forward[i], i]] : backwardOf(i).slice(0, 50).map((b) => [i, b]);
  for (const [from, to] of pairs) drawArrow(boxOf(from, top), boxOf(to, top));
  const box = boxOf(i, top);
  const x = Math.max(box.x, -6);
  const right = Math.min(box.x + box.width, chart.width + 6);
  if (right > x) outline(x - 1, box.y - 1, right - x + 2, box.height + 2, palette.accent, 2.5);
}

/** An arrow from the end of an operation to the begin of its backward event; either may be out of sight. */
function drawArrow(from, to) {
  const { context } = chart;
  const [x0, y0] = [from.x + from.width, from.y + from.height / 2];
  const [x1, y1] = [to.x - 1, to.y + to.height / 2];
  const bend = Math.max(Math.abs(x1 - x0) / 3, 24);
  context.strokeStyle = context.fillStyle = palette.accent;
  context.lineWidth = 1.75;
  context.beginPath();
  context.moveTo(x0, y0);
  context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 6, y1);
  context.stroke();
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x1 - 8, y1 - 4.5);
  context.lineTo(x1 - 8, y1 + 4.5);
  context.fill();
  context.beginPath();
  context.arc(x0, y0, 3, 0, 7);
  context.fill();
}

/** The event at a place of the canvas, or -1; one that is thin may be three pixels off. */
function eventAt(x, y) {
  const inside = y + chart.box.scrollTop;
  const row = y < AXIS ? undefined : rows.find((r) => inside >= r.y && inside < r.y + ROW);
  if (!row) return -1;
  const slack = (3 / chart.width) * (view.to - view.from);
  const time = toTime(x);
  const k = firstFrom(row, time + slack * 1e-9) - 1;
  let best = -1;
  let least = slack;
  for (const i of [row.items[k], row.items[k + 1]]) {
    if (i === undefined) continue;
    const off = Math.max(events.start[i] - time, time - endOf(i), 0);
    if (off < least) [best, least] = [i, off];
  }
  return best;
}
