// The search: which events match, and who is told.

const search = { text: "", active: false, matches: new Uint8Array(events.count), list: [], listeners: [] };

/** Whether a text fits the search; without a search everything does. */
const fitsSearch = (text) => !search.active || text.toLowerCase().includes(search.text);

/** Which events have a name, a shape or a place with the text in it. Places are few: each is looked at once. */
function findMatches(text) {
  const contains = (values) => values.map((value) => value.toLowerCase().includes(text));
  const [names, shapes] = [contains(model.names), contains(model.shapes)];
  const places = new Map();
  const placeFits = (i) => {
    const key = events.file[i] * 1e7 + events.line[i];
    if (!places.has(key)) places.set(key, placeOf(i).toLowerCase().includes(text));
    return places.get(key);
  };
  const found = new Uint8Array(events.count);
  for (let i = 0; i < events.count; i += 1) {
    found[i] = names[events.name[i]] || shapes[events.shape[i]] || placeFits(i) ? 1 : 0;
  }
  return found;
}

/** How many matches stand before each event of a row: merged events are told apart by it. */
function countHits(row) {
  row.hits = new Uint32Array(row.items.length + 1);
  row.items.forEach((i, k) => (row.hits[k + 1] = row.hits[k] + search.matches[i]));
}

function setSearch(text) {
  search.text = text.trim().toLowerCase();
  search.active = search.text !== "";
  search.matches = search.active ? findMatches(search.text) : new Uint8Array(events.count);
  search.list = [];
  search.matches.forEach((hit, i) => hit && search.list.push(i));
  search.list.sort((a, b) => events.start[a] - events.start[b] || a - b);
  rows.forEach(countHits);
  tellCount();
  for (const listener of search.listeners) listener();
  view.changed();
}

function tellCount() {
  const n = search.list.length;
  byId("search-count").textContent = search.active ? `${formatCount(n)} ${n === 1 ? "event" : "events"}` : "";
  for (const id of ["search-previous", "search-next"]) byId(id).disabled = n === 0;
}

/** Go to the match after the selected event (or before it, by -1), and round from the end to the beginning. */
function goToMatch(direction) {
  const { list } = search;
  if (!list.length) return;
  const at = list.indexOf(view.selected);
  const next = at < 0 ? (direction > 0 ? 0 : list.length - 1) : (at + direction + list.length) % list.length;
  showTab("timeline");
  select(list[next], { reveal: true });
}

/** Fill in the search, as if it had been typed. */
function searchFor(text) {
  byId("search").value = text;
  setSearch(text);
}

function startSearch() {
  let waiting = 0;
  byId("search").addEventListener("input", (event) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => setSearch(event.target.value), 80);
  });
  byId("search-form").addEventListener("submit", (event) => {
    event.preventDefault();
    if (byId("search").value.trim().toLowerCase() !== search.text) setSearch(byId("search").value);
    goToMatch(1);
  });
  byId("search-previous").addEventListener("click", () => goToMatch(-1));
  rows.forEach(countHits);
}
