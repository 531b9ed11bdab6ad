// Tables that can be sorted by a click or by the keyboard, and that show what fits the search.

const SHOWN = 200; // rows before "show all"

/**
 * columns: {key, label, numeric, text(row), cell(row)}; the first is the row's header. `bar` names the column whose share of
 * the largest value stands behind its numbers.
 */
function sortableTable(place, { caption, columns, rows: all, sort, searched, bar }) {
  const state = { key: sort, down: true, whole: false };
  const body = make("tbody");
  const more = make("button", { type: "button", class: "quiet", hidden: true, onclick: () => ((state.whole = true), fill()) });
  const heads = columns.map((column) => headCell(column, () => sortBy(column)));
  const most = bar ? Math.max(...all.map((row) => row[bar]), 1) : 1;

  function sortBy(column) {
    state.down = state.key === column.key ? !state.down : Boolean(column.numeric);
    state.key = column.key;
    fill();
    say(`Sorted by ${column.label}, ${state.down ? "descending" : "ascending"}`);
  }

  function compare(a, b) {
    const [x, y] = [a[state.key] ?? -1, b[state.key] ?? -1];
    const order = typeof x === "string" ? String(x).localeCompare(String(y), "en", { numeric: true }) : x - y;
    return state.down ? -order : order;
  }

  function fill() {
    const found = all.filter((row) => fitsSearch(searched(row))).sort(compare);
    const shown = state.whole ? found : found.slice(0, SHOWN);
    body.replaceChildren(...shown.map((row) => tableRow(row, columns, bar, most)));
    if (!found.length) body.append(make("tr", {}, make("td", { colspan: columns.length, class: "none" }, "Nothing matches the search.")));
    more.hidden = shown.length === found.length;
    more.textContent = `Show all ${formatCount(found.length)} rows`;
    columns.forEach((column, k) => {
      const on = column.key === state.key;
      heads[k].setAttribute("aria-sort", on ? (state.down ? "descending" : "ascending") : "none");
    });
  }

  const table = make("table", {}, make("caption", { class: "hidden" }, caption),
    make("thead", {}, make("tr", {}, ...heads)), body);
  // What scrolls must be reached by the keyboard.
  place.replaceChildren(make("div", { class: "scroll", role: "region", "aria-label": caption, tabindex: "0" }, table), more);
  search.listeners.push(fill);
  fill();
}

function headCell(column, onclick) {
  const button = make("button", { type: "button", onclick }, column.label, make("span", { class: "arrow", "aria-hidden": "true" }));
  return make("th", { scope: "col", class: column.numeric ? "numeric" : null }, button);
}

function tableRow(row, columns, bar, most) {
  const cells = columns.map((column, k) => {
    const content = column.cell ? column.cell(row) : column.text(row);
    if (k === 0) return make("th", { scope: "row" }, content);
    const share = column.key === bar ? `--share:${((100 * row[bar]) / most).toFixed(1)}%` : null;
    return make("td", { class: `${column.numeric ? "numeric" : ""}${share ? " barred" : ""}`, style: share }, content);
  });
  return make("tr", {}, ...cells);
}

function startOperations() {
  const whole = model.table.reduce((sum, row) => sum + row.self_ns, 0);
  const all = model.table.map((row) => ({ ...row, mean_ns: row.total_ns / Math.max(row.calls, 1), share: row.self_ns / whole }));
  const link = (row) => make("button", { type: "button", class: "link", title: "Show the longest in the timeline",
    onclick: () => selectLongest(row.name) }, row.name);
  const swatch = (row) => make("span", { class: "kind" },
    make("span", { class: `swatch ${kindClass(row.kind)}`, "aria-hidden": "true" }), kindName(row.kind));
  const columns = [
    { key: "name", label: "Operation", cell: link },
    { key: "self_ns", label: "Self", numeric: true, text: (row) => formatTime(row.self_ns) },
    { key: "share", label: "Share", numeric: true, text: (row) => formatShare(row.self_ns, whole) },
    { key: "calls", label: "Calls", numeric: true, text: (row) => formatCount(row.calls) },
    { key: "total_ns", label: "Total", numeric: true, text: (row) => formatTime(row.total_ns) },
    { key: "mean_ns", label: "Mean", numeric: true, text: (row) => formatTime(row.mean_ns) },
  ];
  if (all.some((row) => row.bytes)) {
    columns.push({ key: "bytes", label: "Memory", numeric: true, text: (row) => (row.bytes ? formatBytes(row.bytes) : "–") });
  }
  columns.push({ key: "kind", label: "Kind", cell: swatch });
  sortableTable(byId("operations-table"), { caption: "Time by operation", columns, rows: all, sort: "self_ns", bar: "self_ns",
    searched: (row) => `${row.name} ${row.kind}` });
}

function startLines() {
  const whole = model.lines.reduce((sum, row) => sum + row.self_ns, 0);
  const all = model.lines.map((row) => ({ ...row, place: placeText(row.file, row.line), share: row.self_ns / whole }));
  const columns = [
    { key: "place", label: "Line", cell: (row) => make("button", { type: "button", class: "link", title: row.file,
      onclick: () => selectLine(row.file, row.line) }, row.place) },
    { key: "source", label: "Source", cell: (row) => make("code", { class: "source" }, (row.source ?? "").trim()) },
    { key: "function", label: "Function", text: (row) => row.function ?? "" },
    { key: "calls", label: "Calls", numeric: true, text: (row) => formatCount(row.calls) },
    { key: "self_ns", label: "Self", numeric: true, text: (row) => formatTime(row.self_ns) },
    { key: "share", label: "Share", numeric: true, text: (row) => formatShare(row.self_ns, whole) },
  ];
  sortableTable(byId("lines-table"), { caption: "Time by source line", columns, rows: all, sort: "self_ns", bar: "self_ns",
    searched: (row) => `${row.place} ${row.source} ${row.function}` });
}

/** Go to the longest event of a line. */
function selectLine(file, line) {
  const number = model.files.indexOf(file);
  const i = longestWhere((k) => events.file[k] === number && events.line[k] === line);
  if (i < 0) return say("No event of this line is in the timeline.");
  showTab("timeline");
  select(i, { reveal: true });
  chart.box.focus();
}
