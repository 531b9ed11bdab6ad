// Hints: lines that could be faster, with what they would gain.

function hintCard(hint) {
  const place = placeText(hint.file, hint.line);
  const gain = hint.gain_ns > 0 ? make("span", { class: "gain" }, "saves about ", make("strong", {}, formatTime(hint.gain_ns))) : null;
  return make("li", { class: "hint" },
    make("div", { class: "hint-head" },
      make("button", { type: "button", class: "link", title: hint.file, onclick: () => selectLine(hint.file, hint.line) }, place),
      hint.kind ? make("span", { class: "tag" }, hint.kind) : null, gain),
    hint.source ? make("pre", { class: "source" }, hint.source.trim()) : null,
    make("p", {}, hint.message));
}

function drawHints() {
  const hints = [...model.hints].sort((a, b) => (b.gain_ns ?? 0) - (a.gain_ns ?? 0));
  const fitting = hints.filter((hint) => fitsSearch(`${placeText(hint.file, hint.line)} ${hint.source} ${hint.message} ${hint.kind}`));
  const place = byId("hints-view");
  if (!hints.length) {
    place.replaceChildren(make("p", { class: "lead" }, "No hints: no copy, cast, broadcast or lost reuse stood out."));
    return;
  }
  const left = hints.length - fitting.length;
  place.replaceChildren(
    make("p", { class: "lead" }, "The largest gain first; a gain is an estimate from the times of this profile."
      + (left ? ` ${left} more don't fit the search.` : "")),
    make("ol", { class: "hints" }, ...fitting.map(hintCard)));
}

function startHints() {
  search.listeners.push(drawHints);
  drawHints();
}
