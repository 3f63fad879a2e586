// The part of the graph around the plan, on a canvas: drag to pan, wheel to zoom, click to make a set the goal.
import { cssColour, element, replaceContent } from "./dom.js";
import { edgeKey } from "./film.js";
import { count, evidenceWords, meetsGoal, percent, sameSet } from "./words.js";
import { isDark, probabilityColour } from "./colours.js";

const BOX = { width: 176, height: 36, radius: 9 }; // a set on the path
const SIDE = { width: 144, height: 28, radius: 8 }; // an alternative
const GAP = { least: 186, most: 250, y: 39 }; // columns share the width of the canvas
const MARGIN = 22;
const DIP = 34; // how far ways back bend down
const SHORT = 90; // a shorter transition has its probability above it, so that the line is seen
const ZOOM = { least: 0.3, most: 2 };
const FIRST = { least: 0.8, most: 1.1 }; // the scale at which the graph is first shown, if all of it fits then
const LINE = { alternative: 1.5, path: 3.5, last: 5, outline: 9 }; // widths of transitions
const FONT = "14px system-ui, sans-serif";
const SMALL = "12.5px system-ui, sans-serif";

export class GraphView {
  // choose: called with a set that was clicked; null if sets cannot be chosen.
  constructor(root, film, choose = null) {
    this.film = film;
    this.choose = choose;
    this.canvas = element("canvas", { class: "graph", tabindex: "0", role: "application" });
    this.tip = element("div", { class: "tip", role: "tooltip", hidden: true });
    replaceContent(root, this.canvas, this.tip);
    this.view = { x: 0, y: 0, scale: 1 };
    this.graph = null;
    this.chosen = null;
    this.pending = false;
    this.listen();
    film.watch(() => this.update());
    new ResizeObserver(() => this.fit()).observe(root);
  }

  update() {
    const graph = this.film.latest("graph");
    if (graph !== this.graph) {
      this.graph = graph;
      this.chosen = null;
      this.tip.hidden = true;
      if (graph) this.prepare(graph);
      this.fit();
    }
    this.posteriors = this.film.posteriors();
    this.last = graph && this.lastWalked();
    const walked = this.last ? ` Walked last: ${this.film.space.change(this.last.from.values, this.last.to.values)}.` : "";
    this.canvas.setAttribute("aria-label", `Graph around the plan.${walked} Arrow keys move between sets, Enter makes one the goal.`);
    this.follow();
    this.request();
  }

  // Keep the current set in sight, with the way that led there and as much of the graph as there is place for.
  follow() {
    const here = this.graph && this.film.frame && this.nodes.find((node) => sameSet(node.values, this.film.frame.believed));
    const width = this.canvas.clientWidth;
    if (!here || !width || here === this.here) return;
    this.here = here;
    const { view, extent } = this;
    if ((extent.right - extent.left) * view.scale <= width) return;
    const least = width - extent.right * view.scale;
    const most = -extent.left * view.scale;
    view.x = Math.max(least, Math.min(most, Math.max(width * (this.last ? 0.45 : 0.25), MARGIN + (BOX.width / 2) * view.scale) - here.x * view.scale));
  }

  prepare(graph) {
    const { space } = this.film;
    const planned = this.film.latest("plan")?.sets.length > 1;
    this.nodes = graph.nodes.map((node, i) => ({ ...node, x: 0, y: node.row * GAP.y, label: "", box: i === 0 || (planned && !node.row) ? BOX : SIDE }));
    this.edges = graph.edges.map((edge) => ({ ...edge, from: this.nodes[edge.source], to: this.nodes[edge.target] }));
    for (const { from, to } of this.edges) if (!to.label) to.label = space.change(from.values, to.values, 1);
    this.byKey = new Map(this.nodes.map((node) => [String(node.values), node]));
    const step = this.film.frames.findIndex((frame) => frame.graph === graph);
    if (step <= 0) this.nodes[0].label = "start";
    for (const node of this.nodes) node.label ||= node.column < 0 ? "set before" : `step ${this.film.frames[step].step}`;
  }

  fit() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!this.graph || !width) return;
    const columns = this.nodes.map((node) => node.column);
    const [first, last] = [Math.min(...columns), Math.max(...columns, 1)];
    const gap = Math.max(GAP.least, Math.min(GAP.most, (width - BOX.width - 2 * MARGIN) / (last - first)));
    for (const node of this.nodes) node.x = node.column * gap;
    const ys = this.nodes.map((node) => node.y);
    const [aside, above] = [BOX.width / 2 + MARGIN, BOX.height / 2 + MARGIN / 2];
    this.extent = { left: first * gap - aside, right: last * gap + aside, top: Math.min(...ys) - above, bottom: Math.max(...ys) + above };
    const { left, right, top, bottom } = this.extent;
    const [across, down] = [width / (right - left), height / (bottom - top)];
    const scale = Math.max(across < FIRST.least ? 1 : Math.min(across, down, FIRST.most), FIRST.least);
    const middle = (bottom - top) * scale > height ? this.nodes[0].y : (top + bottom) / 2;
    this.view = { scale, x: width / 2 - ((left + right) / 2) * scale, y: height / 2 - middle * scale };
    this.here = null;
    this.follow();
    this.request();
  }

  request() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.draw();
    });
  }

  draw() {
    const { canvas, view } = this;
    const ratio = devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    if (!this.graph) return;
    if (this.theme !== isDark()) this.readColours();
    pen.translate(view.x, view.y);
    pen.scale(view.scale, view.scale);
    const path = this.pathNodes();
    const walked = this.walkedNodes();
    const along = new Set([path, walked].flatMap((nodes) => nodes.slice(1).map((node, i) => edgeKey(nodes[i].values, node.values))));
    const onPath = (edge) => along.has(edgeKey(edge.from.values, edge.to.values));
    const [left, right, top, bottom] = [-view.x, width - view.x, -view.y, height - view.y].map((side) => side / view.scale);
    const seen = (node) => node.x > left - BOX.width && node.x < right + BOX.width && node.y > top - BOX.height && node.y < bottom + BOX.height;
    const apart = ({ from, to }) => Math.max(from.x, to.x) < left || Math.min(from.x, to.x) > right || Math.max(from.y, to.y) < top || Math.min(from.y, to.y) > bottom;
    const edges = this.edges.filter((edge) => !apart(edge));
    for (const edge of edges) if (!onPath(edge) && edge !== this.last) this.drawEdge(pen, edge, false);
    for (const edge of edges) if (onPath(edge) && edge !== this.last) this.drawEdge(pen, edge, true);
    if (this.last) this.drawEdge(pen, this.last, true);
    const members = new Set([...path, ...walked]);
    for (const node of this.nodes) if (seen(node)) this.drawNode(pen, node, members.has(node));
  }

  readColours() {
    this.theme = isDark();
    this.colours = Object.fromEntries(["ink", "soft", "line", "card", "accent", "raised"].map((name) => [name, cssColour(`--${name}`)]));
  }

  pathNodes() {
    const plan = this.film.latest("plan");
    if (!plan) return [];
    return plan.sets.map((values) => this.byKey.get(String(values))).filter(Boolean);
  }

  // The sets in which the agent was since this part of the graph is shown.
  walkedNodes() {
    const { film } = this;
    const first = film.frames.findIndex((frame) => frame.graph === this.graph);
    const keys = film.frames.slice(first, film.index + 1).map((frame) => String(frame.believed));
    return keys.filter((key, i) => key !== keys[i - 1]).map((key) => this.byKey.get(key)).filter(Boolean);
  }

  // The transition by which the agent came to the current set; null if it has not left the first one.
  lastWalked() {
    const walked = this.film.latest("walked");
    const [from, to] = walked ? [walked.source, walked.target].map((values) => this.byKey.get(String(values))) : [];
    if (!from || !to) return null;
    return this.edges.find((edge) => edge.from === from && edge.to === to) ?? { ...walked, from, to };
  }

  // As it is believed now: by training, or after failures in this episode.
  probability(edge) {
    return this.posteriors.get(edgeKey(edge.from.values, edge.to.values)) ?? edge.probability;
  }

  drawEdge(pen, edge, main) {
    const { from, to } = edge;
    const back = to.x <= from.x;
    if (back && !main && from !== this.chosen && to !== this.chosen) return; // ways back are shown where one points
    const beside = to.x === from.x; // both in one column: the transition bends around what stands between them
    const below = ({ x, y, box }, aside) => ({ x: x + aside, y: y + box.height / 2 });
    const right = ({ x, y, box }) => ({ x: x + box.width / 2, y });
    const start = beside || !back ? right(from) : below(from, -20);
    const end = beside ? right(to) : back ? below(to, 20) : { x: to.x - to.box.width / 2, y: to.y };
    const bend = Math.max(18, (end.x - start.x) / 2);
    const probability = this.probability(edge);
    const colour = probability === null ? this.colours.soft : probabilityColour(probability);
    const last = edge === this.last;
    const turn = beside ? Math.PI : back ? -Math.PI / 2 : 0;
    const line = () => {
      pen.beginPath();
      pen.moveTo(start.x, start.y);
      if (beside) pen.bezierCurveTo(start.x + DIP, start.y, end.x + DIP, end.y, end.x, end.y);
      else if (back) pen.bezierCurveTo(start.x, start.y + DIP, end.x, end.y + DIP, end.x, end.y);
      else pen.bezierCurveTo(start.x + bend, start.y, end.x - bend, end.y, end.x, end.y);
      pen.stroke();
    };
    if (last) {
      [pen.strokeStyle, pen.lineWidth] = [this.colours.ink, LINE.outline];
      line();
      this.drawHead(pen, end, turn, this.colours.ink, 15);
    }
    pen.globalAlpha = main ? 1 : 0.7;
    [pen.strokeStyle, pen.lineWidth] = [colour, last ? LINE.last : main ? LINE.path : LINE.alternative];
    pen.setLineDash(edge.tried ? [] : [6, 5]);
    line();
    pen.setLineDash([]);
    pen.globalAlpha = 1;
    if (last || !back) this.drawHead(pen, end, turn, colour, last ? 11 : main ? 8 : 5);
    const raised = end.x - start.x < SHORT ? 15 : 0;
    if (main && !back) this.drawShare(pen, (start.x + end.x) / 2, (start.y + end.y) / 2 - raised, edge);
  }

  // The head of an arrow that points right, turned by an angle.
  drawHead(pen, end, turn, colour, size) {
    pen.save();
    pen.translate(end.x, end.y);
    pen.rotate(turn);
    pen.fillStyle = colour;
    pen.beginPath();
    pen.moveTo(1, 0);
    pen.lineTo(-size, -size / 1.6);
    pen.lineTo(-size, size / 1.6);
    pen.fill();
    pen.restore();
  }

  drawShare(pen, x, y, edge) {
    const probability = this.probability(edge);
    const text = probability === null ? "unknown" : percent(probability);
    pen.font = SMALL;
    const width = pen.measureText(text).width + 10;
    pen.fillStyle = this.colours.card;
    pen.beginPath();
    pen.roundRect(x - width / 2, y - 9, width, 18, 9);
    pen.fill();
    pen.fillStyle = this.colours.ink;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillText(text, x, y + 0.5);
  }

  drawNode(pen, node, onPath) {
    const here = this.film.frame && sameSet(node.values, this.film.frame.believed);
    const goal = this.film.goal && meetsGoal(this.film.goal, node.values);
    const { accent, card, ink, line, raised, soft } = this.colours;
    const { width, height, radius } = node.box;
    pen.beginPath();
    pen.roundRect(node.x - width / 2, node.y - height / 2, width, height, radius);
    pen.fillStyle = here ? accent : onPath ? card : raised;
    pen.fill();
    pen.strokeStyle = onPath || here || node === this.chosen ? accent : line;
    pen.lineWidth = node === this.chosen ? 3 : onPath ? 1.75 : 1;
    pen.stroke();
    if (goal) {
      pen.beginPath();
      pen.roundRect(node.x - width / 2 - 4, node.y - height / 2 - 4, width + 8, height + 8, radius + 4);
      pen.lineWidth = 1.5;
      pen.strokeStyle = accent;
      pen.stroke();
    }
    pen.fillStyle = here ? card : onPath ? ink : soft;
    pen.font = node.box === BOX ? FONT : SMALL;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillText(this.fitting(pen, node), node.x, node.y + 0.5);
  }

  fitting(pen, node) {
    if (node.fitted) return node.fitted;
    let text = node.label;
    while (text.length > 3 && pen.measureText(text).width > node.box.width - 14) text = `${text.slice(0, -2).trimEnd()}…`;
    node.fitted = text;
    return text;
  }

  nodeAt(event) {
    if (!this.graph) return null;
    const x = (event.offsetX - this.view.x) / this.view.scale;
    const y = (event.offsetY - this.view.y) / this.view.scale;
    return this.nodes.find((node) => Math.abs(node.x - x) <= node.box.width / 2 && Math.abs(node.y - y) <= node.box.height / 2) ?? null;
  }

  listen() {
    const { canvas } = this;
    let grip = null;
    let moved = false;
    canvas.addEventListener("pointerdown", (event) => {
      grip = { x: event.offsetX - this.view.x, y: event.offsetY - this.view.y };
      moved = false;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!grip) return this.point(this.nodeAt(event));
      const [x, y] = [event.offsetX - grip.x, event.offsetY - grip.y];
      moved ||= Math.hypot(x - this.view.x, y - this.view.y) > 4;
      if (!moved) return;
      [this.view.x, this.view.y] = [x, y];
      this.tip.hidden = true;
      this.request();
    });
    canvas.addEventListener("pointerup", (event) => {
      const node = this.nodeAt(event);
      if (grip && !moved && node) this.choose?.(node.values);
      grip = null;
    });
    canvas.addEventListener("pointercancel", () => (grip = null));
    canvas.addEventListener("pointerleave", () => this.point(null));
    canvas.addEventListener("blur", () => this.point(null));
    canvas.addEventListener("wheel", (event) => this.zoom(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  zoom(event) {
    if (!event.ctrlKey && !event.altKey && Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.view.x -= event.deltaX;
    else {
      const scale = Math.max(ZOOM.least, Math.min(ZOOM.most, this.view.scale * Math.exp(-event.deltaY / 500)));
      const share = scale / this.view.scale;
      this.view.x = event.offsetX - (event.offsetX - this.view.x) * share;
      this.view.y = event.offsetY - (event.offsetY - this.view.y) * share;
      this.view.scale = scale;
    }
    event.preventDefault();
    this.request();
  }

  key(event) {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (!this.graph) return;
    if (event.key === "Enter" && this.chosen) this.choose?.(this.chosen.values);
    else if (event.key === "Escape") this.point(null);
    else if (moves[event.key]) this.point(this.beside(...moves[event.key]));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  beside(right, down) {
    const at = this.chosen;
    if (!at) return this.nodes[0];
    const way = (node) => (node.x - at.x) * right + (node.y - at.y) * down;
    const off = (node) => Math.abs((node.x - at.x) * down) + Math.abs((node.y - at.y) * right);
    const ahead = this.nodes.filter((node) => way(node) > 1 && way(node) >= off(node) / 4);
    return ahead.sort((a, b) => way(a) + off(a) - way(b) - off(b))[0] ?? at;
  }

  point(node) {
    if (node === this.chosen) return;
    this.chosen = node;
    this.canvas.style.cursor = node && this.choose ? "pointer" : "grab";
    this.tip.hidden = !node;
    if (node) this.tell(node);
    this.request();
  }

  tell(node) {
    const { space } = this.film;
    const edges = this.last ? [...new Set([this.last, ...this.edges])] : this.edges;
    const into = edges.filter((edge) => edge.to === node).slice(0, 4);
    const words = space.holds(node.values);
    const known = (edge) => (edge.probability === null ? "not known before" : `${percent(edge.probability)}, ${evidenceWords(edge)}${edge.tried ? " attempts" : ""}`);
    const ways = into.map((edge) => element("li", {}, edge === this.last ? element("strong", {}, "walked last: ") : null, `${space.change(edge.from.values, node.values)}: ${known(edge)}`));
    replaceContent(
      this.tip,
      element("p", {}, words.slice(0, 14).join(", ") || "nothing holds", words.length > 14 ? ` … ${count(words.length, "value")}` : ""),
      element("ul", {}, ways),
      this.choose ? element("p", { class: "soft" }, "Click to make it the goal") : null,
    );
    const x = node.x * this.view.scale + this.view.x;
    const y = (node.y + BOX.height / 2) * this.view.scale + this.view.y + 8;
    const right = Math.max(0, this.canvas.clientWidth - 290);
    this.tip.style.left = `${Math.max(8, Math.min(x - 140, right))}px`;
    const below = y + this.tip.offsetHeight < this.canvas.clientHeight;
    this.tip.style.top = below ? `${y}px` : `${Math.max(8, y - this.tip.offsetHeight - BOX.height * this.view.scale - 16)}px`;
  }
}
