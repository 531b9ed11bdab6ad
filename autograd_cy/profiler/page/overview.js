// The strip above the chart: how deep the calls go over the whole time, by kind, and the interval that is shown.

const overview = { canvas: byId("overview"), context: null, width: 0, height: 0 };

function resizeOverview() {
  const { clientWidth, clientHeight } = overview.canvas.parentElement;
  if (!clientWidth || !clientHeight) return;
  Object.assign(overview, { width: clientWidth, height: 52 });
  overview.context = fitCanvas(overview.canvas, overview.width, overview.height);
  drawOverview();
}

const STACKED = ["region", "engine", "backward", "function", "hook", "op"];

/** For each kind and column of pixels the part of the column that its events fill: together, how deep the calls go. */
function coverage(width) {
  const found = Object.fromEntries(STACKED.map((kind) => [kind, new Float32Array(width)]));
  const scale = width / wholeTime;
  for (let i = 0; i < events.count; i += 1) {
    const filled = found[kindClass(kindOf(i))];
    const [begin, end] = [events.start[i] * scale, Math.min(endOf(i) * scale, width)];
    for (let x = Math.floor(begin); x < end; x += 1) filled[x] += Math.min(end, x + 1) - Math.max(begin, x);
  }
  return found;
}

function drawDepths(context, width, height) {
  if (overview.columns?.width !== width) overview.columns = { width, found: coverage(width) };
  const { found } = overview.columns;
  const depths = Array.from({ length: width }, (_, x) => STACKED.reduce((sum, kind) => sum + found[kind][x], 0));
  const unit = (height - 8) / Math.max(...depths, 1);
  const base = new Float32Array(width).fill(height);
  for (const kind of STACKED) {
    context.fillStyle = palette[`${kind}-dense`];
    found[kind].forEach((part, x) => context.fillRect(x, (base[x] -= part * unit), 1, part * unit));
  }
}

function drawWindow(context, width, height) {
  const left = (view.from / wholeTime) * width;
  const right = Math.max((view.to / wholeTime) * width, left + 3);
  context.fillStyle = palette.surface;
  context.globalAlpha = 0.72;
  context.fillRect(0, 0, left, height);
  context.fillRect(right, 0, width - right, height);
  context.globalAlpha = 1;
  context.strokeStyle = palette.accent;
  context.lineWidth = 2;
  context.strokeRect(left + 1, 1, Math.max(right - left - 2, 1), height - 2);
}

function drawOverview() {
  const { context, width, height } = overview;
  if (!context) return;
  context.clearRect(0, 0, width, height);
  drawDepths(context, width, height);
  drawWindow(context, width, height);
}

/** Pressed or dragged on, the strip brings that time to the middle of the chart. */
function startOverview() {
  const go = (event) => {
    const x = event.clientX - overview.canvas.getBoundingClientRect().left;
    const span = view.to - view.from;
    const middle = (x / overview.width) * wholeTime;
    view.show(middle - span / 2, middle + span / 2);
  };
  overview.canvas.addEventListener("pointerdown", (event) => {
    overview.canvas.setPointerCapture(event.pointerId);
    go(event);
  });
  overview.canvas.addEventListener("pointermove", (event) => event.buttons & 1 && go(event));
  overview.canvas.addEventListener("wheel", onWheel, { passive: false });
}
