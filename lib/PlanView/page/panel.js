"use strict";

// Title, kind, what it is sorted by, what is shown, and what part of the largest it is.
const COLUMNS = [
  ["#", "n", (c, i) => i, (c, i) => String(i)],
  ["phase", "", (c) => c.phase, (c) => c.phase],
  ["st", "n", (c) => c.stream, (c) => String(c.stream)],
  ["layer", "", (c) => c.layer, (c) => c.layer],
  ["operation", "", (c) => c.op, (c) => c.op],
  ["kernel", "", (c) => c.kid, (c) => c.kid],
  ["FLOPs", "n", (c) => c.flops, (c) => short(c.flops)],
  ["bytes", "n", (c) => c.bytes, (c) => short(c.bytes), "bytes"],
  ["µs", "n", (c) => c.us ?? -1, (c) => micros(c.us), "us"],
  ["bound µs", "n", (c, i, p) => p.bound(c) ?? -1, (c, i, p) => micros(p.bound(c))],
  ["source", "", (c) => c.location, (c) => placeOf(c.location)],
];
const ROW = 22;

// One plan: charts, table and details of an entry.
class Panel {
  constructor(plan, rates) {
    this.plan = plan;
    this.rates = rates;
    this.call = null;
    this.tensor = null;
    this.order = { column: 0, down: false };
    this.open = new Set(); // layers whose calls are shown
    this.range = new Range(() => this.drawCharts());
    this.arena = new Arena(this);
    this.streams = new Streams(this);
    this.build();
    this.pickEntry(0);
  }

  build() {
    const choose = (name, values, changed) => make("select", { name, onchange: changed },
      ...values.map(([value, text]) => make("option", { value }, text)));
    this.entryBox = choose("entry", this.plan.entries.map((e, i) => [i, e.name]),
      () => this.pickEntry(Number(this.entryBox.value)));
    this.segmentBox = choose("segment", [["temp", "temps"], ["io", "inputs and outputs"],
      ["persistent", "parameters and states"]], () => {
      this.arena.segment = this.segmentBox.value;
      this.drawCharts();
    });
    this.search = make("input", { type: "search", name: "search",
      placeholder: "operation, kernel, tensor or source", oninput: () => this.fill() });
    this.groupBox = choose("group", [["", "all calls"], ["layer", "by layer"]],
      () => this.fill());
    this.widthBox = choose("width", [["time", "as wide as their time"], ["call", "equally wide"]],
      () => this.setWidths());
    this.phaseBox = choose("phase", [["", "all phases"], ["forward", "forward"],
      ["backward", "backward"], ["update", "update"]], () => this.fill());
    const rate = (name, title) => make("input", { className: "rate", name, title,
      inputMode: "decimal", value: this.rates[name] || "", placeholder: name,
      oninput: (e) => { this.rates[name] = Number(e.target.value) || 0; this.fill(); } });
    this.heading = make("span", { className: "note" });
    this.memory = make("span", { className: "note" });
    this.count = make("span", { className: "note", name: "count" });
    this.rows = make("div", { className: "rows", onscroll: () => this.drawRows() });
    this.details = make("div", { className: "details" });
    this.root = make("section", { className: "panel" },
      make("div", { className: "bar" }, make("strong", {}, this.plan.title), this.entryBox,
        this.heading),
      make("h2", {}, "Memory over the calls"),
      make("div", { className: "bar" }, this.segmentBox, this.memory), this.arena.chart.canvas,
      make("div", { className: "bar" }, make("h2", {}, "Calls by stream"), this.widthBox),
      this.streams.chart.canvas, this.legend(),
      make("h2", {}, "Calls"),
      make("div", { className: "bar" }, this.search, this.phaseBox, this.groupBox,
        rate("GB/s", "What the device copies in a second: for the bound of a call"),
        rate("GFLOP/s", "What the device computes in a second: for the bound of a call"),
        this.count),
      this.rows, make("h2", {}, "Details"), this.details);
  }
  legend() {
    const box = make("div", { className: "legend" });
    for (const phase of ["forward", "backward", "update"]) {
      const mark = make("i");
      mark.style.background = COLORS[phase];
      box.append(make("span", {}, mark, phase));
    }
    box.append(make("span", {}, "scroll to zoom, drag to move, double click to see all"));
    return box;
  }

  pickEntry(index) {
    this.entry = this.plan.entries[index];
    const e = this.entry, used = e.calls.filter((c) => c.us !== null);
    e.calls.forEach((c) => { c.layer = layerOf(c.location); });
    e.tensors.forEach((t) => {
      t.label = this.labelOf(t);
      t.color = COLORS[t.role] || (t.writers.length ? COLORS[e.calls[t.writers[0]].phase]
        : COLORS.workspace);
    });
    this.heading.textContent = e.calls.length + " calls, "
      + short(e.calls.reduce((sum, c) => sum + c.times * c.flops, 0)) + "FLOPs, "
      + short(e.calls.reduce((sum, c) => sum + c.times * c.bytes, 0)) + "B moved"
      + (used.length ? ", " + micros(used.reduce((sum, c) => sum + c.times * c.us, 0))
        + " µs in calls" : "");
    this.memory.textContent = short(this.plan.persistentBytes) + "B of parameters and states, "
      + short(e.ioBytes) + "B of inputs and outputs, " + short(e.tempBytes) + "B of temps"
      + (e.lowerBound ? " (at least " + short(e.lowerBound) + "B live at once)" : "");
    this.call = this.tensor = null;
    this.widthBox.hidden = !used.length;
    this.open.clear();
    this.setWidths();
    this.details.replaceChildren(make("p", { className: "note" },
      "Click a call, or a tensor in the chart."));
    this.fill();
  }

  setWidths() {
    const { calls } = this.entry, isTimed = calls.some((c) => c.us !== null);
    this.range.reset(calls.length, isTimed && this.widthBox.value === "time"
      ? calls.map((c) => c.times * (c.us || 0)) : null);
    this.drawCharts();
  }
  // A temp has a number in the plan: here the layer and the op that write it say what it is.
  labelOf(t) {
    const c = this.entry.calls[t.writers[t.writers.length - 1]];
    if (t.segment !== "temp" || t.base !== null || !c) return t.name.replace(
      /^constant:([^:]+):.*$/, "constant $1");
    return (c.layer ? c.layer + " " : "") + c.op.replace(/^.*, /, "");
  }

  bound(c) {
    const memory = this.rates["GB/s"], compute = this.rates["GFLOP/s"];
    if (!memory && !compute) return null;
    return Math.max(memory ? c.bytes / memory / 1e3 : 0, compute ? c.flops / compute / 1e3 : 0);
  }

  // The table: of all rows only those that are in sight are made.
  fill() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const phase = this.phaseBox.value, { calls, tensors } = this.entry;
    const text = (c) => (c.haystack ??= [c.op, c.kid, c.location, ...[...c.ins, ...c.outs]
      .map((t) => tensors[t].name + " " + tensors[t].label)].join(" ").toLowerCase());
    this.shown = calls.map((c, i) => i).filter((i) => (!phase || calls[i].phase === phase)
      && words.every((w) => text(calls[i]).includes(w)));
    const key = COLUMNS[this.order.column][2];
    const value = (i) => key(calls[i], i, this);
    this.shown.sort((a, b) => {
      const x = value(a), y = value(b);
      return (x < y ? -1 : x > y ? 1 : a - b) * (this.order.down ? -1 : 1);
    });
    this.count.textContent = this.shown.length + " of " + calls.length;
    this.most = { us: Math.max(...calls.map((c) => c.us || 0)),
      bytes: Math.max(...calls.map((c) => c.bytes)) };
    if (this.groupBox.value) this.group(key);
    const head = make("div", { className: "row head" });
    COLUMNS.forEach(([title, kind], column) => head.append(make("span", { className: kind,
      title: "Sort by " + title, onclick: () => this.sortBy(column) },
      title + (column === this.order.column ? (this.order.down ? " ▾" : " ▴") : ""))));
    const space = make("div");
    space.style.height = this.shown.length * ROW + "px";
    this.rows.replaceChildren(head, space);
    this.rows.scrollTop = 0;
    this.drawRows();
    this.drawCharts();
  }
  // Rows of layers, each with its calls behind it if it is open.
  group(key) {
    const { calls } = this.entry, layers = new Map();
    for (const i of this.shown) {
      const c = calls[i], g = layers.get(c.layer) ?? { layer: c.layer, calls: [], flops: 0,
        bytes: 0, us: null, phase: "", stream: "", kid: "", location: "", times: 1 };
      g.calls.push(i);
      g.flops += c.times * c.flops;
      g.bytes += c.times * c.bytes;
      if (c.us !== null) g.us = (g.us || 0) + c.times * c.us;
      layers.set(c.layer, g);
    }
    const groups = [...layers.values()];
    groups.forEach((g) => { g.op = g.calls.length + " calls"; });
    const { column, down } = this.order;
    if (["FLOPs", "bytes", "µs"].includes(COLUMNS[column][0]))
      groups.sort((a, b) => (key(a) - key(b)) * (down ? -1 : 1));
    this.shown = groups.flatMap((g) => [g, ...(this.open.has(g.layer) ? g.calls : [])]);
    this.most = { us: Math.max(...groups.map((g) => g.us || 0)),
      bytes: Math.max(...groups.map((g) => g.bytes)) };
  }
  toggle(layer) {
    const top = this.rows.scrollTop;
    if (!this.open.delete(layer)) this.open.add(layer);
    this.fill();
    this.rows.scrollTop = top;
  }
  sortBy(column) {
    const isNumber = COLUMNS[column][1] === "n" && column > 0;
    this.order = { column, down: column === this.order.column ? !this.order.down : isNumber };
    this.fill();
  }
  drawRows() {
    for (const row of this.rows.querySelectorAll(".row.body")) row.remove();
    const first = Math.max(0, Math.floor(this.rows.scrollTop / ROW) - 4);
    const last = Math.min(this.shown.length, first + Math.ceil(this.rows.clientHeight / ROW) + 8);
    for (let place = first; place < last; ++place) {
      const index = this.shown[place], isGroup = typeof index === "object";
      const c = isGroup ? index : this.entry.calls[index];
      const row = make("div", { className: "row body" + (isGroup ? " group" : "")
        + (index === this.call ? " picked" : ""),
        onclick: () => isGroup ? this.toggle(c.layer) : this.pickCall(index, false) });
      if (!isGroup) row.dataset.call = index;
      row.style.top = (place + 1) * ROW + "px";
      for (const [title, kind, , show, share] of COLUMNS)
        row.append(this.cell(c, isGroup ? (title === "#" ? (this.open.has(c.layer) ? "▾" : "▸")
          : title === "layer" ? c.layer || "(no layer)" : title === "source" ? ""
            : show(c, 0, this)) : show(c, index, this), kind, share));
      this.rows.append(row);
    }
  }

  cell(c, text, kind, share) {
    const span = make("span", { className: kind, title: text }, text);
    const part = share && this.most[share] ? 100 * (c[share] || 0) / this.most[share] : 0;
    if (part) span.style.background = "linear-gradient(to left, var(--share) " + part
      + "%, transparent " + part + "%)";
    return span;
  }

  drawCharts() {
    if (!this.root.isConnected) return;
    this.arena.draw();
    this.streams.draw();
  }

  // What is picked

  pickedTensors() {
    if (this.tensor !== null) return new Set([this.tensor]);
    const c = this.entry.calls[this.call];
    return new Set(c ? [...c.ins, ...c.outs] : []);
  }
  pickCall(index, scroll) {
    this.call = index;
    this.tensor = null;
    if (scroll && this.groupBox.value && !this.shown.includes(index)) {
      this.open.add(this.entry.calls[index].layer);
      this.fill();
    }
    if (scroll) {
      const place = this.shown.indexOf(index);
      if (place >= 0) this.rows.scrollTop = Math.max(0, place * ROW - this.rows.clientHeight / 2);
    }
    const c = this.entry.calls[index];
    const names = c.ins.map((t) => this.entry.tensors[t].label);
    this.show("Call " + index, [["computes", c.text], ["kernel", c.kid], ["phase", c.phase],
      ["reads", this.tensorLinks(c.ins)], ["writes", this.tensorLinks(c.outs)],
      ["costs", short(c.flops) + "FLOPs, " + short(c.bytes) + "B"
        + (c.us === null ? "" : ", " + micros(c.us) + " µs")
        + (this.bound(c) === null ? "" : ", at best " + micros(this.bound(c)) + " µs")],
      ["runs", c.times === 1 ? "once" : c.times + " times"],
      ["stream", String(c.stream)], ["waits for", this.callLinks(c.after)],
      ["workspace", c.workspace ? short(c.workspace) + "B" : ""],
      ["note", c.isProtective ? "a copy that the compiler put in" : ""],
      ["layer", c.layer], ["source", c.location.slice(c.layer ? c.layer.length + 4 : 0)]]);
    if (c.body.length) this.details.append(bodyGraph(c, names));
  }
  pickTensor(index) {
    this.tensor = index;
    this.call = null;
    const t = this.entry.tensors[index];
    this.show(t.label, [["in the plan", t.label === t.name ? "" : t.name], ["type", t.type],
      ["role", t.role],
      ["lies", short(t.bytes) + "B at byte " + t.offset + " of the " + t.segment + " segment"
        + (t.base === null ? "" : ", inside of " + this.entry.tensors[t.base].name)],
      ["lives", "from call " + t.first + " to call " + t.last + this.heldText(t)],
      ["written by", this.callLinks(t.writers)], ["read by", this.callLinks(t.readers)]]);
  }
  show(title, items) {
    const list = make("dl");
    for (const [name, value] of items) {
      if (value === "" || (Array.isArray(value) && !value.length)) continue;
      list.append(make("dt", {}, name), make("dd", {}, ...(Array.isArray(value) ? value
        : [value])));
    }
    this.details.replaceChildren(make("strong", {}, title), list);
    this.drawRows();
    this.drawCharts();
  }
  heldText(t) {
    return t.held > t.last ? "; its memory is held to call " + t.held
      + ", because another stream may still use it" : "";
  }
  callLinks(calls) {
    return calls.slice(0, 40).map((c) => make("button", { className: "link",
      onclick: () => this.pickCall(c, true) }, c + " " + this.entry.calls[c].op));
  }
  tensorLinks(tensors) {
    return tensors.map((t) => make("button", { className: "link",
      onclick: () => this.pickTensor(t) }, this.entry.tensors[t].label));
  }
  tensorText(index) {
    const t = this.entry.tensors[index], named = (c) => c + " " + this.entry.calls[c].op;
    return [t.label + (t.label === t.name ? "" : " (" + t.name + ")") + ": " + t.type,
      t.role + ", " + short(t.bytes) + "B at " + t.offset,
      "lives from call " + t.first + " to " + t.last + this.heldText(t),
      t.writers.length ? "written by " + listed(t.writers, 3, named) : "",
      t.readers.length ? "read by " + listed(t.readers, 5, named) : ""].filter(Boolean).join("\n");
  }
  callText(index) {
    const c = this.entry.calls[index];
    return ["call " + index + ", " + c.phase, c.text, c.kid, c.location].filter(Boolean).join("\n");
  }
}

const content = JSON.parse(document.getElementById("data").textContent);
document.title = content.plans.map((p) => p.title).join(" and ");
document.getElementById("headline").textContent = content.plans.map((p) => p.title
  + ": version " + p.version + " for " + p.device).join("; ");
window.panels = content.plans.map((plan) => new Panel(plan, { ...content.rates }));
document.getElementById("panels").append(...window.panels.map((p) => p.root));
window.panels.forEach((p) => { p.drawRows(); p.drawCharts(); });
if (content.difference !== null) {
  const section = document.getElementById("difference");
  section.hidden = false;
  section.querySelector("pre").textContent = content.difference || "The plans are equal.";
}
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change",
  () => window.panels.forEach((p) => p.drawCharts()));
window.addEventListener("resize", () => window.panels.forEach((p) => p.drawCharts()));
