// A layered layout: a node stands below all that lead to it; in each layer the order follows the neighbours'.

const BOX = { width: 196, height: 48, across: 26, down: 40, thread: 12 };

/** Edges without those that would close a circle, as a folded graph may have them. */
function withoutCircles(nodes, edges) {
  const out = new Map(nodes.map((node) => [node.id, []]));
  for (const [from, to] of edges) if (out.has(from) && out.has(to) && from !== to) out.get(from).push(to);
  const state = new Map(); // 1: on the path, 2: done
  const kept = [];
  for (const { id } of nodes) {
    if (state.has(id)) continue;
    const path = [[id, 0]];
    state.set(id, 1);
    while (path.length) {
      const top = path.at(-1);
      const next = out.get(top[0])[top[1]++];
      if (next === undefined) state.set(path.pop()[0], 2);
      else if (state.get(next) !== 1) {
        kept.push([top[0], next]);
        if (!state.has(next)) {
          state.set(next, 1);
          path.push([next, 0]);
        }
      }
    }
  }
  return kept;
}

/** The layer of each node: the longest way to it from above. Leaves then come as near to what leads to them as can be. */
function layersOf(nodes, edges) {
  const layer = new Map(nodes.map((node) => [node.id, 0]));
  const waiting = new Map(nodes.map((node) => [node.id, 0]));
  const out = new Map(nodes.map((node) => [node.id, []]));
  for (const [from, to] of edges) {
    out.get(from).push(to);
    waiting.set(to, waiting.get(to) + 1);
  }
  const ready = nodes.filter((node) => waiting.get(node.id) === 0).map((node) => node.id);
  while (ready.length) {
    const id = ready.pop();
    for (const next of out.get(id)) {
      layer.set(next, Math.max(layer.get(next), layer.get(id) + 1));
      waiting.set(next, waiting.get(next) - 1);
      if (waiting.get(next) === 0) ready.push(next);
    }
  }
  return layer;
}

/** Points: a node each, and one on every layer that an edge crosses. `above` and `below` are neighbours. */
function pointsOf(nodes, edges, layer) {
  const layers = [];
  const add = (point) => {
    (layers[point.layer] ??= []).push(point);
    return point;
  };
  const of = new Map(nodes.map((node) => [node.id, add({ node, layer: layer.get(node.id), above: [], below: [], x: 0 })]));
  const ways = edges.map(([from, to]) => {
    const way = [of.get(from)];
    for (let k = layer.get(from) + 1; k < layer.get(to); k += 1) way.push(add({ node: null, layer: k, above: [], below: [], x: 0 }));
    way.push(of.get(to));
    way.slice(1).forEach((point, k) => {
      point.above.push(way[k]);
      way[k].below.push(point);
    });
    return way;
  });
  return { layers, ways };
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const widthOf = (point) => (point.node ? BOX.width : BOX.thread);

/** Set the points of a layer side by side in their order, each as near to where it would be as the others let it. */
function pack(points, wanted) {
  const half = points.map((point) => (widthOf(point) + BOX.across) / 2);
  const rightwards = [...wanted];
  const leftwards = [...wanted];
  for (let k = 1; k < points.length; k += 1) {
    rightwards[k] = Math.max(wanted[k], rightwards[k - 1] + half[k - 1] + half[k]);
    const m = points.length - 1 - k;
    leftwards[m] = Math.min(wanted[m], leftwards[m + 1] - half[m + 1] - half[m]);
  }
  // Both keep the distances, and so does what lies in the middle.
  points.forEach((point, k) => (point.x = (rightwards[k] + leftwards[k]) / 2));
}

function arrange(layers) {
  for (const points of layers) pack(points, points.map((_, k) => k * (BOX.width + BOX.across)));
  // Orders first, from above and from below in turn; then places between both sides, which makes long edges straight.
  const sides = { above: (point) => point.above, below: (point) => point.below, both: (point) => [...point.above, ...point.below] };
  for (let sweep = 0; sweep < 24; sweep += 1) {
    const side = sweep < 10 ? (sweep % 2 ? sides.below : sides.above) : sides.both;
    for (const points of sweep % 2 ? [...layers].reverse() : layers) {
      const wish = new Map(points.map((point) => [point, side(point).length ? mean(side(point).map((p) => p.x)) : point.x]));
      if (sweep < 10) points.sort((a, b) => wish.get(a) - wish.get(b));
      pack(points, points.map((point) => wish.get(point)));
    }
  }
}

/** Where the nodes and edges of a graph are drawn: {points, ways, width, height}, with x and y of the middles. */
function layOut(nodes, edges) {
  const kept = withoutCircles(nodes, edges);
  const { layers, ways } = pointsOf(nodes, kept, layersOf(nodes, kept));
  arrange(layers);
  const points = layers.flat();
  const least = Math.min(...points.map((point) => point.x - widthOf(point) / 2));
  for (const point of points) {
    point.x += 16 - least;
    point.y = 16 + BOX.height / 2 + point.layer * (BOX.height + BOX.down);
  }
  return {
    points,
    ways,
    width: Math.max(...points.map((point) => point.x + widthOf(point) / 2)) + 16,
    height: layers.length * (BOX.height + BOX.down) - BOX.down + 32,
  };
}
