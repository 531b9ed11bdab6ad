// Numbers with units, and the few helpers for elements that all views share.

const TIMES = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
const BYTES = [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]];
const GAP = "\u00a0";

/** Three significant digits, and all digits of what has more before the point. */
function digits(value) {
  const size = Math.abs(value);
  return value.toFixed(size >= 99.95 || value === 0 ? 0 : size >= 9.995 ? 1 : 2);
}

function scaled(value, units) {
  const size = Math.abs(value);
  // 999.7 us would be rounded to 1000 us: it is 1.00 ms.
  const [factor, unit] = units.find(([f]) => size >= f * 0.9995) ?? units.at(-1);
  return (factor === 1 ? Math.round(value).toString() : digits(value / factor)) + GAP + unit;
}

const formatTime = (ns) => scaled(ns, TIMES);
const formatBytes = (bytes) => scaled(bytes, BYTES);
const formatCount = (n) => n.toLocaleString("en-US");

function formatShare(part, whole) {
  if (!(whole > 0)) return "";
  const percent = (100 * part) / whole;
  return percent > 0 && percent < 0.1 ? `<0.1${GAP}%` : percent.toFixed(1) + GAP + "%";
}

/** The ticks of an axis: at most `most` of them from `from` to `to`, at steps of 1, 2 or 5 times a power of ten. */
function ticks(from, to, most) {
  const rough = Math.max((to - from) / Math.max(most, 1), 1e-9);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((m) => m * power >= rough) ?? 10);
  const found = [];
  for (let k = Math.ceil(from / step); k * step <= to; k += 1) found.push(k * step);
  return { step, found };
}

/** A tick's text: all ticks of an axis have the same unit and the same number of decimals. */
function formatTick(value, step, largest, units) {
  const [factor, unit] = units.find(([f]) => largest >= f) ?? units.at(-1);
  const decimals = Math.max(0, Math.min(9, -Math.floor(Math.log10(step / factor) + 1e-9)));
  return (value / factor).toFixed(decimals) + GAP + unit;
}

const byId = (id) => document.getElementById(id);

/** An element with attributes and children; `on...` are listeners. Text is never read as HTML. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  assign(element, attributes);
  element.append(...children.filter((child) => child !== null));
  return element;
}

function makeSvg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  assign(element, attributes);
  element.append(...children);
  return element;
}

function assign(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
}

/** Say something to a screen reader; quick successions are told once, as the last of them. */
let saying = 0;
function say(text) {
  clearTimeout(saying);
  saying = setTimeout(() => (byId("live").textContent = text), 120);
}
