// A line chart of one metric.
import { element, replaceContent, svgElement } from "./dom.js";

const SIZE = { width: 300, height: 130, left: 8, right: 8, top: 8, bottom: 18 };

export function niceNumber(number) {
  if (number === 0) return "0";
  const size = Math.abs(number);
  if (size >= 1e6) return `${(number / 1e6).toPrecision(3)}M`;
  if (size >= 1e4) return `${(number / 1e3).toPrecision(3)}k`;
  return size >= 100 ? String(Math.round(number)) : String(Number(number.toPrecision(3)));
}

// clock: what the values are drawn over, seconds or a number of steps; points are pairs of it and a value.
export class Chart {
  constructor(name, clock = "seconds") {
    this.name = name;
    this.clock = clock;
    this.value = element("span", { class: "chart-value" });
    this.drawing = svgElement("svg", { viewBox: `0 0 ${SIZE.width} ${SIZE.height}`, class: "chart-lines", role: "img", "aria-label": name });
    this.root = element("figure", { class: "chart" }, element("figcaption", {}, element("span", {}, name), this.value), this.drawing);
    this.drawing.addEventListener("pointermove", (event) => this.point(event));
    this.drawing.addEventListener("pointerleave", () => this.rest());
  }

  show(points) {
    this.points = points;
    const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
    this.span = { x: [Math.min(...xs), Math.max(...xs)], y: [Math.min(...ys), Math.max(...ys)] };
    const places = points.map((point) => this.place(point));
    const line = places.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
    const floor = SIZE.height - SIZE.bottom;
    const area = `${places[0][0]},${floor} ${line} ${places.at(-1)[0]},${floor}`;
    this.dot = svgElement("circle", { r: "3.5", class: "dot" });
    const text = (x, y, words, anchor) => {
      const made = svgElement("text", { x, y, "text-anchor": anchor });
      made.textContent = words;
      return made;
    };
    replaceContent(
      this.drawing,
      svgElement("line", { x1: SIZE.left, x2: SIZE.width - SIZE.right, y1: floor, y2: floor, class: "axis" }),
      svgElement("polygon", { points: area, class: "area" }),
      svgElement("polyline", { points: line, class: "line" }),
      this.dot,
      text(SIZE.left, SIZE.top + 8, niceNumber(this.span.y[1]), "start"),
      text(SIZE.left, SIZE.height - 4, niceNumber(this.span.y[0]), "start"),
      text(SIZE.width - SIZE.right, SIZE.height - 4, clockWords(this.span.x[1], this.clock), "end"),
    );
    this.rest();
  }

  place([x, y]) {
    const share = (value, [low, high]) => (high > low ? (value - low) / (high - low) : 0.5);
    const across = SIZE.left + share(x, this.span.x) * (SIZE.width - SIZE.left - SIZE.right);
    const down = SIZE.height - SIZE.bottom - share(y, this.span.y) * (SIZE.height - SIZE.top - SIZE.bottom - 12);
    return [across, down];
  }

  point(event) {
    const box = this.drawing.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * SIZE.width;
    const nearest = this.points.reduce((best, each) => (Math.abs(this.place(each)[0] - x) < Math.abs(this.place(best)[0] - x) ? each : best));
    this.mark(nearest, `${niceNumber(nearest[1])} at ${clockWords(nearest[0], this.clock)}`);
  }

  rest() {
    const last = this.points.at(-1);
    this.mark(last, niceNumber(last[1]));
  }

  mark(point, words) {
    const [x, y] = this.place(point);
    this.dot.setAttribute("cx", x);
    this.dot.setAttribute("cy", y);
    this.value.textContent = words;
  }
}

export function clockWords(time, clock) {
  return clock === "seconds" ? secondsWords(time) : `${niceNumber(time)} ${clock ?? ""}`.trimEnd();
}

export function secondsWords(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
