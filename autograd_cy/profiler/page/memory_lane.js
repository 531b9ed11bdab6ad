// The lane of live bytes below the rows of the chart, on the same axis of time.

const LANE = 60;

/** Where the lane stands, below `y`; returns where the content ends. */
function layLane(y) {
  chart.lane = null;
  if (!model.memory?.time.length) return y;
  const { bytes, time } = model.memory.peak;
  chart.headers.push({ text: "Live memory", note: `peak ${formatBytes(bytes)} at ${formatTime(time)}`, y: y + 8 });
  chart.lane = { y: y + 8 + HEADER };
  return chart.lane.y + LANE;
}

function drawLane(top) {
  if (!chart.lane || chart.lane.y - top > chart.height) return;
  const { context, width } = chart;
  const base = chart.lane.y - top + LANE;
  const height = (bytes) => ((bytes - leastBytes) / Math.max(model.memory.peak.bytes - leastBytes, 1)) * (LANE - 6);
  const path = new Path2D();
  let level = base - height(bytesAt(view.from));
  path.moveTo(-2, level);
  for (const [time, bytes] of thinned(view.from, view.to, width)) {
    path.lineTo(toX(time), level);
    level = base - height(bytes);
    path.lineTo(toX(time), level);
  }
  path.lineTo(width + 2, level);
  context.strokeStyle = palette["memory-edge"];
  context.lineWidth = 1.5;
  context.stroke(path);
  path.lineTo(width + 2, base);
  path.lineTo(-2, base);
  context.globalAlpha = 0.45;
  context.fillStyle = palette.memory;
  context.fill(path);
  context.globalAlpha = 1;
  drawLanePeak(base - height(model.memory.peak.bytes));
}

function drawLanePeak(y) {
  const { context, width } = chart;
  const x = toX(model.memory.peak.time);
  if (x < -5 || x > width + 5) return;
  context.fillStyle = palette.mark;
  context.beginPath();
  context.arc(x, y, 4, 0, 7);
  context.fill();
}

/** What the tip says over the lane, or null elsewhere. */
function laneTip(x, y) {
  const inside = y + chart.box.scrollTop;
  if (!chart.lane || y < AXIS || inside < chart.lane.y || inside > chart.lane.y + LANE) return null;
  return [formatBytes(bytesAt(toTime(x))), `alive at ${formatTime(toTime(x))}`];
}
