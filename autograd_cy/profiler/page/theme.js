// Light and dark: the switch, and the style sheet's colours as the canvases need them.

const KINDS = ["op", "backward", "engine", "function", "hook", "region"];
const SHADES = 3;
const palette = {};

/** What a colour of the style sheet is now, as [r, g, b]. */
function resolve(name) {
  const probe = byId("footer");
  const before = probe.style.color;
  probe.style.color = `var(--${name})`;
  const found = getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3).map(Number);
  probe.style.color = before;
  return found;
}

const rgb = (colour) => `rgb(${colour.map(Math.round).join(",")})`;
const mix = (a, b, share) => a.map((value, k) => value + (b[k] - value) * share);

/** Shades lead away from the ink, so that a label is at least as legible on them as on the colour itself. */
function readPalette() {
  const plain = ["ink", "muted", "surface", "line", "accent", "mark", "ground", "memory", "memory-edge"];
  for (const name of plain) palette[name] = rgb(resolve(name));
  const away = resolve("shade");
  for (const kind of KINDS) {
    const fill = resolve(kind);
    palette[kind] = Array.from({ length: SHADES }, (_, k) => rgb(mix(fill, away, (0.5 * k) / SHADES)));
    palette[`${kind}-edge`] = rgb(resolve(`${kind}-edge`));
    palette[`${kind}-dense`] = rgb(mix(fill, resolve(`${kind}-edge`), 0.4));
  }
}

const kindClass = (kind) => (KINDS.includes(kind) ? kind : "engine");

/** Neighbours of one kind differ by their names: each name has a shade. */
const shadeOfName = model.names.map((name) => {
  let hash = 7;
  for (const letter of name) hash = (hash * 31 + letter.charCodeAt(0)) >>> 0;
  return hash % SHADES;
});

const fillOf = (i) => palette[kindClass(kindOf(i))][shadeOfName[events.name[i]]];

function remembered() {
  try {
    return localStorage.getItem("autograd_cy:theme") ?? "auto";
  } catch {
    return "auto"; // a page without an origin has no store
  }
}

function setTheme(choice) {
  if (choice === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = choice;
  try {
    localStorage.setItem("autograd_cy:theme", choice);
  } catch {
    // then it holds for as long as the page is open
  }
  repaint();
}

function repaint() {
  readPalette();
  drawOverview();
  view.changed();
}

function startTheme() {
  for (const input of document.querySelectorAll("input[name=theme]")) {
    input.checked = input.value === remembered();
    input.addEventListener("change", () => setTheme(input.value));
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  const choice = remembered();
  if (choice !== "auto") document.documentElement.dataset.theme = choice;
  readPalette();
}
