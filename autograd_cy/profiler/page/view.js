// The interval of time that is shown, and the event that is selected.

const wholeTime = Math.max(model.end, 1);
const stillness = matchMedia("(prefers-reduced-motion: reduce)");

const view = {
  from: 0,
  to: wholeTime,
  selected: -1,
  listeners: [],
  moving: 0,

  changed() {
    for (const listener of this.listeners) listener();
  },

  /** Show an interval, kept within the whole and no shorter than what 20 ns need. */
  show(from, to) {
    cancelAnimationFrame(this.moving);
    this.set(from, to);
  },

  set(from, to) {
    const span = Math.min(Math.max(to - from, 20), wholeTime);
    this.from = Math.min(Math.max(from, 0), wholeTime - span);
    this.to = this.from + span;
    this.changed();
  },

  /** Go to an interval in a fifth of a second, or at once for who wants no motion. */
  goTo(from, to) {
    if (stillness.matches) return this.show(from, to);
    cancelAnimationFrame(this.moving);
    const [a, b, began] = [this.from, this.to, performance.now()];
    const step = (now) => {
      const share = Math.min(Math.max((now - began) / 200, 0), 1);
      const eased = 1 - (1 - share) ** 3;
      this.set(a + (from - a) * eased, b + (to - b) * eased);
      if (share < 1) this.moving = requestAnimationFrame(step);
    };
    this.moving = requestAnimationFrame(step);
  },

  /** Zoom by a factor (below 1: in) about a time that stays where it is. */
  zoom(factor, about = this.centre()) {
    const span = Math.min(Math.max((this.to - this.from) * factor, 20), wholeTime);
    const share = (about - this.from) / (this.to - this.from);
    this.show(about - share * span, about + (1 - share) * span);
  },

  pan(share) {
    const by = (this.to - this.from) * share;
    this.show(this.from + by, this.to + by);
  },

  /** Keys zoom about the selected event as long as it is in sight. */
  centre() {
    const i = this.selected;
    if (i >= 0 && endOf(i) > this.from && events.start[i] < this.to) {
      return (Math.max(events.start[i], this.from) + Math.min(endOf(i), this.to)) / 2;
    }
    return (this.from + this.to) / 2;
  },

  /** Zoom to an event, with a margin. */
  zoomTo(i) {
    const margin = Math.max(events.duration[i] * 0.1, 10);
    this.goTo(events.start[i] - margin, endOf(i) + margin);
  },

  /** Bring an event and another into sight, with what lies between them; if that makes it a dot, the event alone. */
  revealBoth(i, other) {
    const from = Math.min(events.start[i], events.start[other]);
    const to = Math.max(endOf(i), endOf(other));
    const small = Math.min(events.duration[i], events.duration[other]) < (to - from) / 200;
    if (small) this.reveal(i);
    else if (from < this.from || to > this.to) this.goTo(from - (to - from) * 0.08, to + (to - from) * 0.08);
  },

  /** Bring an event into sight, and near enough that it is not a dot. */
  reveal(i) {
    const span = this.to - this.from;
    if (events.duration[i] < span / 300) {
      const near = Math.max(events.duration[i] * 40, 20);
      const middle = events.start[i] + events.duration[i] / 2;
      this.goTo(middle - near / 2, middle + near / 2);
    } else if (events.duration[i] > span) {
      this.zoomTo(i);
    } else if (endOf(i) <= this.from || events.start[i] >= this.to) {
      const middle = events.start[i] + events.duration[i] / 2;
      this.goTo(middle - span / 2, middle + span / 2);
    }
  },
};
