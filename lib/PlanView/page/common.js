"use strict";
// Names come from files that nobody has vouched for: text is only ever put into text nodes.

const COLORS = { forward: "#4c8bf5", backward: "#9a6bdc", update: "#2f9e6b",
  input: "#e0a100", output: "#d9480f", param: "#5b6b84", state: "#8a97ab", hyper: "#b9c2d0",
  constant: "#c9b79c", workspace: "#c6ccd6" };
const PICK = "#d9480f";

// A color of the style sheet, which a dark page has others of.
function themed(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

// "fc0 at /src/model.py:5:0" is the path of a module, and the line of its code.
function layerOf(location) {
  const end = location.indexOf(" at "), head = location.slice(0, Math.max(end, 0));
  return head.includes("/") ? "" : head;
}
function placeOf(location) {
  const layer = layerOf(location);
  return location.slice(layer ? layer.length + 4 : 0).replace(/^.*\//, "");
}

window.pageErrors = [];
window.addEventListener("error", (e) => window.pageErrors.push(String(e.message)));

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key in element) element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

function short(number) {
  if (number === null || number === undefined) return "";
  const units = ["", " k", " M", " G", " T"];
  let unit = 0;
  while (Math.abs(number) >= 1000 && unit < units.length - 1) { number /= 1000; ++unit; }
  return (unit && number < 100 ? number.toFixed(1) : Math.round(number)) + units[unit];
}

function micros(number) {
  return number === null ? "" : number >= 100 ? number.toFixed(0) : number.toFixed(2);
}

function listed(values, most, text) {
  const shown = values.slice(0, most).map(text).join(", ");
  return values.length > most ? shown + " and " + (values.length - most) + " more" : shown;
}

const tip = {
  show(event, text) {
    const box = document.getElementById("tip");
    box.textContent = text;
    box.hidden = false;
    const right = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.offsetWidth - 4));
    const below = event.clientY + 16 + box.offsetHeight > innerHeight
      ? event.clientY - box.offsetHeight - 8 : event.clientY + 16;
    box.style.left = right + "px";
    box.style.top = Math.max(4, below) + "px";
  },
  hide() { document.getElementById("tip").hidden = true; },
};

// A canvas of a fixed height, as sharp as the screen. `paint` draws in CSS pixels.
class Chart {
  constructor(height, label, handlers) {
    this.height = height;
    this.canvas = make("canvas", { height, role: "img", ...handlers });
    this.canvas.setAttribute("aria-label", label);
    this.canvas.style.height = height + "px";
  }
  get width() { return this.canvas.clientWidth || 600; }
  resize(height) {
    this.height = height;
    this.canvas.style.height = height + "px";
  }
  draw(paint) {
    const scale = window.devicePixelRatio || 1;
    this.canvas.width = this.width * scale;
    this.canvas.height = this.height * scale;
    const g = this.canvas.getContext("2d");
    g.scale(scale, scale);
    g.clearRect(0, 0, this.width, this.height);
    g.font = "11px system-ui, sans-serif";
    paint(g);
  }
}

// What is shown of the calls' axis, shared by the charts of a panel. A call is one wide, or
// as wide as its time where `times` has one for each.
class Range {
  constructor(changed) { this.changed = changed; this.reset(1); }
  reset(count, times = null) {
    this.first = 0;
    this.last = this.count = Math.max(1, count);
    this.ends = null;
    const total = times && times.reduce((sum, t) => sum + t, 0);
    if (!total) return;
    let end = 0; // at least a tenth of the mean: each can be seen and clicked
    const wide = times.map((t) => 0.1 + 0.9 * t / total * count), sum = wide.reduce((a, b) => a + b);
    this.ends = [0, ...wide.map((w) => (end += w * count / sum))];
  }
  position(call) {
    if (!this.ends) return call;
    const whole = Math.max(0, Math.min(Math.floor(call), this.ends.length - 2));
    return this.ends[whole] + (call - whole) * (this.ends[whole + 1] - this.ends[whole]);
  }
  callAt(position) {
    if (!this.ends) return position;
    let low = 0, high = this.ends.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.ends[middle] <= position) low = middle; else high = middle;
    }
    return low + (position - this.ends[low]) / (this.ends[low + 1] - this.ends[low]);
  }
  x(call, width) {
    return (this.position(call) - this.first) / (this.last - this.first) * width;
  }
  call(x, width) { return this.callAt(this.first + x / width * (this.last - this.first)); }
  zoom(around, factor) {
    const size = Math.min(this.count, Math.max(3, (this.last - this.first) * factor));
    const part = (around - this.first) / (this.last - this.first);
    this.set(around - part * size, size);
  }
  set(first, size) {
    this.first = Math.max(0, Math.min(first, this.count - size));
    this.last = this.first + size;
    this.changed();
  }
  handlers(chart) {
    let from = null;
    const at = (e) => this.position(this.call(e.offsetX, chart().width));
    return {
      onwheel: (e) => { e.preventDefault(); this.zoom(at(e), e.deltaY > 0 ? 1.25 : 0.8); },
      ondblclick: () => this.set(0, this.count),
      onmousedown: (e) => { from = { x: e.offsetX, first: this.first }; },
      onmouseup: () => { from = null; },
      drag: (e) => {
        if (!from || !(e.buttons & 1)) return false;
        const size = this.last - this.first;
        if (size < this.count)
          this.set(from.first - (e.offsetX - from.x) / chart().width * size, size);
        return true;
      },
    };
  }
}

// A chart over the calls of a panel. `view` says what lies at a point, describes it and
// picks it.
function linkedChart(panel, height, label, view) {
  const { drag, ...moves } = panel.range.handlers(() => view.chart);
  return new Chart(height, label, { ...moves,
    onmousemove: (e) => {
      if (drag(e)) return;
      const found = view.at(e);
      if (found === null) tip.hide();
      else tip.show(e, view.text(found));
    },
    onmouseleave: () => tip.hide(),
    onclick: (e) => {
      const found = view.at(e);
      if (found !== null) view.pick(found);
    } });
}
