// An episode as a list of frames, of which one is shown. A frame names only what is new in it.

export class Film {
  constructor(space) {
    this.space = space;
    this.goal = null;
    this.listeners = new Set();
    this.restart(null);
  }

  restart(frame) {
    this.frames = frame === null ? [] : [frame];
    this.result = null;
    this.index = 0;
    this.tell();
  }

  // Further frames; the last of them is shown if the last one was.
  append(frames, result) {
    const { atEnd } = this;
    this.frames.push(...frames);
    this.result = result;
    if (atEnd) this.index = this.last;
    this.tell();
  }

  show(index) {
    this.index = Math.max(0, Math.min(index, this.frames.length - 1));
    this.tell();
  }

  get last() {
    return this.frames.length - 1;
  }

  get atEnd() {
    return this.index === this.last;
  }

  get frame() {
    return this.frames[this.index] ?? null;
  }

  // What was last said about something, up to the frame that is shown.
  latest(name) {
    for (let i = Math.min(this.index, this.last); i >= 0; i--) if (name in this.frames[i]) return this.frames[i][name];
    return null;
  }

  // What has happened up to the frame that is shown; the same failure again and again counts as one event.
  events() {
    const events = [];
    for (const frame of this.frames.slice(1, this.index + 1)) {
      const event = frame.event;
      if (!event) continue;
      const before = events.at(-1);
      const again = before && event.kind !== "arrived" && before.kind !== "arrived" && sameEvent(before, event);
      if (again) Object.assign(before, { kind: event.kind, step: frame.step, times: before.times + 1, posterior: event.posterior });
      else events.push({ ...event, step: frame.step, times: 1, after: frame.believed });
    }
    return events;
  }

  // The probability of another attempt at each transition that was attempted, as it is believed now.
  posteriors() {
    const known = new Map();
    for (const { source, target, kind, posterior } of this.events()) if (target && kind !== "arrived") known.set(edgeKey(source, target), posterior);
    return known;
  }

  watch(listener) {
    this.listeners.add(listener);
    listener(this);
  }

  tell() {
    for (const listener of this.listeners) listener(this);
  }
}

export function edgeKey(source, target) {
  return `${source}>${target}`;
}

function sameEvent(one, other) {
  return edgeKey(one.source, one.target) === edgeKey(other.source, other.target);
}
