"use strict";

// Memory over the calls: one box for each tensor; parts and views inside of their base.
class Arena {
  constructor(panel) {
    this.panel = panel;
    this.chart = linkedChart(panel, 260, "Memory over calls", this);
    this.segment = "temp";
  }
  tensors() {
    return this.panel.entry.tensors.map((t, i) => [t, i])
      .filter(([t]) => t.segment === this.segment);
  }
  bytes() { // of what lives while the calls run that are in sight
    const { range } = this.panel;
    const first = range.callAt(range.first), last = range.callAt(range.last);
    return this.tensors().reduce((most, [t]) => t.first > last || t.held + 1 < first ? most
      : Math.max(most, t.offset + t.bytes), 1);
  }
  box([t]) {
    const { range } = this.panel, { width, height } = this.chart, all = this.bytes0;
    const x = range.x(t.first, width), right = range.x(t.held + 1, width);
    const y = t.offset / all * height, h = Math.max(1, t.bytes / all * height);
    const inset = t.base === null ? 0 : Math.min(3, h / 4, (right - x) / 4);
    return { x: x + inset, y: y + inset, w: Math.max(1, right - x - 2 * inset),
      h: Math.max(1, h - 2 * inset) };
  }
  draw() {
    this.bytes0 = this.bytes();
    this.chart.draw((g) => {
      const picked = this.panel.pickedTensors(), paper = themed("paper");
      for (const item of this.tensors()) {
        const [t, index] = item, b = this.box(item);
        if (b.x > this.chart.width || b.x + b.w < 0) continue;
        g.fillStyle = t.color;
        g.globalAlpha = 0.3; // held, because another stream may still use it
        if (t.held > t.last) g.fillRect(b.x, b.y, b.w, b.h);
        g.globalAlpha = t.base === null ? 0.75 : 0.95;
        const used = this.panel.range.x(t.last + 1, this.chart.width) - b.x;
        g.fillRect(b.x, b.y, Math.min(b.w, Math.max(1, used)), b.h);
        g.globalAlpha = 1;
        if (b.h > 3 && b.w > 3) {
          g.strokeStyle = picked.has(index) ? PICK : paper;
          g.lineWidth = picked.has(index) ? 2.5 : t.base === null ? 1 : 0.5;
          g.strokeRect(b.x + 0.5, b.y + 0.5, b.w - 1, b.h - 1);
        } else if (picked.has(index)) {
          g.fillStyle = PICK;
          g.fillRect(b.x, b.y, b.w, b.h);
        }
        if (b.h > 13 && b.w > 44) {
          g.save();
          g.beginPath();
          g.rect(b.x, b.y, b.w, b.h);
          g.clip();
          g.fillStyle = "#fff";
          g.fillText(t.label, Math.max(b.x, 0) + 4, b.y + 12);
          g.restore();
        }
      }
    });
  }
  at(event) {
    const items = this.tensors();
    for (let i = items.length - 1; i >= 0; --i) { // what was drawn last lies on top
      const b = this.box(items[i]);
      if (event.offsetX >= b.x && event.offsetX <= b.x + b.w && event.offsetY >= b.y
          && event.offsetY <= b.y + b.h) return items[i][1];
    }
    return null;
  }
  text(tensor) { return this.panel.tensorText(tensor); }
  pick(tensor) { this.panel.pickTensor(tensor); }
}

// Calls by stream, with what they wait for.
class Streams {
  constructor(panel) {
    this.panel = panel;
    this.chart = linkedChart(panel, 40, "Calls by stream", this);
  }
  draw() {
    const { entry, range } = this.panel;
    this.chart.resize(6 + 26 * entry.streams);
    this.chart.draw((g) => {
      entry.calls.forEach((c, i) => {
        const x = range.x(i, this.chart.width), w = range.x(i + 1, this.chart.width) - x;
        if (x > this.chart.width || x + w < 0) return;
        g.fillStyle = i === this.panel.call ? PICK : COLORS[c.phase];
        g.fillRect(x, this.y(c.stream), Math.max(w - (w > 3 ? 1 : 0), 0.7), 18);
        if (w > 40) {
          g.save();
          g.beginPath();
          g.rect(x, 0, w - 2, this.chart.height);
          g.clip();
          g.fillStyle = "#fff";
          g.fillText(c.op, x + 3, this.y(c.stream) + 13);
          g.restore();
        }
      });
      g.strokeStyle = themed("ink");
      g.globalAlpha = 0.6;
      entry.calls.forEach((c, i) => c.after.forEach((from) => {
        const x0 = range.x(from + 1, this.chart.width) - 1, x1 = range.x(i, this.chart.width) + 1;
        if (x1 < 0 || x0 > this.chart.width) return;
        g.beginPath();
        g.moveTo(x0, this.y(entry.calls[from].stream) + 9);
        g.lineTo(x1, this.y(c.stream) + 9);
        g.stroke();
      }));
    });
  }
  y(stream) { return 5 + 26 * stream; }
  at(event) {
    const { entry, range } = this.panel;
    const call = Math.floor(range.call(event.offsetX, this.chart.width));
    const c = entry.calls[call];
    return c && Math.abs(event.offsetY - this.y(c.stream) - 9) <= 12 ? call : null;
  }
  text(call) { return this.panel.callText(call); }
  pick(call) { this.panel.pickCall(call, true); }
}

// The primitives of a call's body, from its operands on the left to its results.
function bodyGraph(call, names) {
  const svg = (tag, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const made = new Map(); // body value -> {x, y}
  const depth = [], rows = [];
  const place = (level) => { rows[level] = (rows[level] || 0) + 1; return rows[level] - 1; };
  const nodes = names.map((name, i) => ({ text: name, level: 0, row: place(0), makes: [i],
    reads: [] }));
  call.body.forEach((p) => {
    const level = 1 + Math.max(0, ...p.operands.filter((v) => v >= 0).map((v) => depth[v] || 0));
    p.results.forEach((r) => { depth[r] = level; });
    nodes.push({ text: p.kind, attrs: p.attrs, level, row: place(level), makes: p.results,
      reads: p.operands.filter((v) => v >= 0) });
  });
  const width = 170, height = 34;
  const root = svg("svg", { width: width * rows.length, role: "img",
    height: height * Math.max(...rows) + 6,
    viewBox: "0 0 " + width * rows.length + " " + (height * Math.max(...rows) + 6) });
  nodes.forEach((n) => n.makes.forEach((v) => made.set(v, n)));
  nodes.forEach((n) => n.reads.forEach((v) => {
    const from = made.get(v);
    if (from) root.append(svg("line", { x1: from.level * width + 140, y1: from.row * height + 18,
      x2: n.level * width + 6, y2: n.row * height + 18, stroke: "#98a2b3" }));
  }));
  nodes.forEach((n) => {
    const x = n.level * width + 6, y = n.row * height + 5;
    const group = svg("g", {});
    group.append(svg("title", {}, n.text + (n.attrs ? " " + n.attrs : "")),
      svg("rect", { x, y, width: 134, height: 26, rx: 4, class: n.level ? "node" : "leaf" }),
      svg("text", { x: x + 6, y: y + 17 },
        n.text.length > 19 ? n.text.slice(0, 17) + "…" : n.text));
    root.append(group);
  });
  return root;
}
