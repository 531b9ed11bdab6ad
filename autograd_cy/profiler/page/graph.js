// The graph of nodes: a picture as long as it is not too large, and always a table, which is its text.

const DRAWN = 400; // nodes

/** An edge bends between the layers and crosses them upright, so that it never runs behind a box. */
function edgePath(way) {
  const half = BOX.height / 2;
  let path = `M${way[0].x},${way[0].y + half}`;
  for (let k = 1; k < way.length; k += 1) {
    const [a, b] = [way[k - 1], way[k]];
    const [y0, y1] = [a.y + half, b.y - half - (b.node ? 6 : 0)];
    const bend = (y1 - y0) / 2;
    path += `C${a.x},${y0 + bend} ${b.x},${y1 - bend} ${b.x},${y1}`;
    if (!b.node) path += `V${b.y + half}`;
  }
  return path;
}

const shorten = (text, letters) => (text.length > letters ? `${text.slice(0, letters - 1)}…` : text);

function nodeSecond(node) {
  return [node.shape, node.dtype, node.bytes ? formatBytes(node.bytes) : ""].filter(Boolean).join(" · ");
}

/** A box: the name and how often it is folded, then shape, type and the bytes that it keeps. Leaves are rounder. */
function nodeBox({ node, x, y }, leaf, most) {
  const { width, height } = BOX;
  const group = makeSvg("g", { class: leaf ? "node leaf" : "node", transform: `translate(${x - width / 2},${y - height / 2})` });
  const place = node.file ? placeText(node.file, node.line) : "";
  group.append(
    makeSvg("title", {}, [node.name, nodeSecond(node), place].filter(Boolean).join("\n")),
    makeSvg("rect", { class: "body", width, height, rx: leaf ? height / 2 : 7 }),
    makeSvg("text", { class: "name", x: width / 2, y: 20 }, shorten(node.name, node.count > 1 ? 20 : 25)
      + (node.count > 1 ? ` ×${formatCount(node.count)}` : "")),
    makeSvg("text", { class: "second", x: width / 2, y: 37 }, shorten(nodeSecond(node), 30)),
  );
  if (node.bytes && !leaf) {
    const share = Math.max((node.bytes / most) * (width - 14), 2);
    group.append(makeSvg("rect", { class: "weight", x: 7, y: height - 4, width: share, height: 3, rx: 1.5 }));
  }
  if (place) group.addEventListener("click", () => selectLine(node.file, node.line));
  return { group, searched: `${node.name} ${node.shape ?? ""} ${place}` };
}

function graphPicture({ nodes, edges }) {
  const { points, ways, width, height } = layOut(nodes, edges);
  const most = Math.max(...nodes.map((node) => node.bytes || 0), 1);
  const leads = new Set(edges.map(([from]) => from));
  const boxes = points.filter((point) => point.node).map((point) => nodeBox(point, !leads.has(point.node.id), most));
  const arrow = makeSvg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 2, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
    makeSvg("path", { class: "head", d: "M0,0 8,4 0,8Z" }));
  const svg = makeSvg("svg", { class: "graph", width, height, viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `Graph of ${nodes.length} nodes and ${edges.length} edges; the table below has them all` },
    makeSvg("defs", {}, arrow),
    ...ways.map((way) => makeSvg("path", { class: "edge", d: edgePath(way), "marker-end": "url(#arrow)" })),
    ...boxes.map(({ group }) => group));
  search.listeners.push(() => boxes.forEach(({ group, searched }) => markBox(group, searched)));
  return svg;
}

function markBox(group, searched) {
  group.classList.toggle("dimmed", !fitsSearch(searched));
  group.classList.toggle("found", search.active && fitsSearch(searched));
}

/** Buttons for the picture's size, which begins as what fits the page, if that can be read. */
function graphButtons(svg, room) {
  const [width, height] = ["width", "height"].map((side) => Number(svg.getAttribute(side)));
  let scale = 1;
  const resize = (to) => {
    scale = Math.min(Math.max(to, 0.2), 3);
    assign(svg, { width: width * scale, height: height * scale });
  };
  const zoom = (factor) => () => resize(factor ? scale * factor : 1);
  resize(Math.min(Math.max(room / width, 0.6), 1));
  const button = (text, label, factor) => make("button", { type: "button", class: "quiet", "aria-label": label, onclick: zoom(factor) }, text);
  return make("div", { class: "buttons", role: "group", "aria-label": "Size of the picture" },
    button("−", "Smaller", 0.8), button("+", "Larger", 1.25), button("1:1", "Full size", 0));
}

function graphTable(place, { nodes, edges }) {
  const names = new Map(nodes.map((node) => [node.id, node.name]));
  const next = new Map(nodes.map((node) => [node.id, []]));
  for (const [from, to] of edges) next.get(from)?.push(names.get(to));
  const all = nodes.map((node) => ({ ...node, place: node.file ? placeText(node.file, node.line) : "", next: next.get(node.id).join(", ") }));
  const columns = [
    { key: "name", label: "Node", text: (row) => row.name },
    { key: "count", label: "Count", numeric: true, text: (row) => formatCount(row.count ?? 1) },
    { key: "shape", label: "Shape", cell: (row) => make("code", {}, row.shape ?? "") },
    { key: "dtype", label: "Type", text: (row) => row.dtype ?? "" },
    { key: "bytes", label: "Keeps", numeric: true, text: (row) => (row.bytes ? formatBytes(row.bytes) : "–") },
    { key: "place", label: "Line", cell: (row) => make("code", {}, row.place) },
    { key: "next", label: "Leads to", text: (row) => shorten(row.next, 80) },
  ];
  sortableTable(place, { caption: "Nodes of the graph", columns, rows: all, sort: "bytes", bar: "bytes",
    searched: (row) => `${row.name} ${row.shape ?? ""} ${row.place}` });
}

function startGraph() {
  const place = byId("graph-view");
  if (!model.graph || !model.graph.nodes.length) {
    place.append(make("p", { class: "lead" }, "There is no graph in this profile."));
    return;
  }
  const { nodes } = model.graph;
  const all = nodes.reduce((sum, node) => sum + (node.count ?? 1), 0);
  const folded = all > nodes.length ? `, ${formatCount(all)} unfolded` : "";
  const small = nodes.length <= DRAWN;
  const kept = nodes.reduce((sum, node) => sum + (node.bytes || 0), 0);
  const text = `${formatCount(nodes.length)} nodes${folded}, which keep ${formatBytes(kept)} alive.`
    + (small ? " A bar shows a node's part of it." : ` More than ${DRAWN} are listed, not drawn.`);
  const lead = make("p", { class: "lead" }, text);
  const table = make("div");
  if (small) {
    const svg = graphPicture(model.graph);
    const buttons = graphButtons(svg, place.clientWidth);
    const box = make("div", { class: "scroll graph-box", role: "region", "aria-label": "Picture of the graph", tabindex: "0" }, svg);
    place.append(make("div", { class: "bar" }, lead, buttons), box, make("h3", {}, "Nodes"));
    box.scrollLeft = (box.scrollWidth - box.clientWidth) / 2;
  } else {
    place.append(lead);
  }
  place.append(table);
  graphTable(table, model.graph);
}
