"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const unpack = text => new Float32Array(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
const columns = data.columns.map(unpack), shade = unpack(data.shade), count = shade.length;
const canvas = document.getElementById("cloud"), pen = canvas.getContext("2d");
const selects = [...document.querySelectorAll(".axis")], labels = [...document.querySelectorAll(".label")];
const dark = matchMedia("(prefers-color-scheme: dark)");
const start = { turn: 0.6, tilt: 0.35, zoom: 1 }, view = { ...start };
const px = new Float32Array(count), py = new Float32Array(count), near = new Float32Array(count);
const order = new Uint32Array(count), layer = new Uint16Array(count), LAYERS = 512;
let axes = [], half = 1, waiting = false;

// The chosen columns around the middle of their ranges, all in one scale: distances stay what they are.
function choose() {
  const names = selects.length ? selects.map(s => Number(s.value)) : [0, 1, 2];
  half = 0;
  axes = names.map(name => {
    const values = columns[name];
    let low = Infinity, high = -Infinity;
    for (const v of values || [0]) { if (v < low) low = v; if (v > high) high = v; }
    half = Math.max(half, (high - low) / 2);
    return { name: values ? "column " + name : "", values, middle: (low + high) / 2 };
  });
  half = half || 1;
  later();
}

// Third axis up; the camera is four half-widths away.
function project(x, y, z, size) {
  const st = Math.sin(view.turn), ct = Math.cos(view.turn), sn = Math.sin(view.tilt), cn = Math.cos(view.tilt);
  const across = ct * x - st * y, away = st * x + ct * y;
  const up = cn * z + sn * away, depth = cn * away - sn * z, scale = 4 / (4 + depth);
  return [across * scale * size, -up * scale * size, depth, scale];
}

function draw() {
  waiting = false;
  const ratio = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
  canvas.width = Math.round(w * ratio); canvas.height = Math.round(h * ratio);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.translate(w / 2, h / 2);
  const size = 0.33 * Math.min(w, h) * view.zoom, style = getComputedStyle(document.documentElement);
  const shown = labels.map(l => l.getAttribute("aria-pressed") === "true");
  const palette = data.palettes[dark.matches ? "dark" : "light"];
  pen.strokeStyle = style.getPropertyValue("--line");
  const ends = axes.map((axis, k) => {
    const end = [0, 0, 0]; end[k] = 1.2;
    const a = project(-end[0], -end[1], -end[2], size), b = project(...end, size);
    pen.beginPath(); pen.moveTo(a[0], a[1]); pen.lineTo(b[0], b[1]); pen.stroke();
    return b;
  });
  // From far to near, by counting: points in front cover those behind.
  const starts = new Uint32Array(LAYERS + 1);
  for (let i = 0; i < count; i++) {
    const p = axes.map(a => a.values ? (a.values[i] - a.middle) / half : 0), [x, y, depth, scale] = project(p[0], p[1], p[2], size);
    px[i] = x; py[i] = y; near[i] = scale;
    layer[i] = Math.max(0, Math.min(LAYERS - 1, Math.floor((2 - depth) / 4 * LAYERS)));
    starts[layer[i] + 1]++;
  }
  for (let k = 0; k < LAYERS; k++) starts[k + 1] += starts[k];
  for (let i = 0; i < count; i++) order[starts[layer[i]]++] = i;
  const dot = Math.max(2, Math.min(7, 220 / Math.sqrt(count))) * Math.sqrt(view.zoom);
  pen.globalAlpha = 0.85;
  for (const i of order) {
    if (labels.length && !shown[shade[i]]) continue;
    const side = dot * near[i];
    pen.fillStyle = palette[shade[i]];
    pen.fillRect(px[i] - side / 2, py[i] - side / 2, side, side);
  }
  // Names come last and with a rim, to be read in front of the cloud.
  pen.globalAlpha = 1;
  pen.font = "13px system-ui, sans-serif"; pen.textAlign = "center"; pen.textBaseline = "middle";
  pen.lineWidth = 4; pen.lineJoin = "round";
  pen.strokeStyle = style.getPropertyValue("--paper"); pen.fillStyle = style.getPropertyValue("--ink");
  axes.forEach((axis, k) => {
    const x = Math.max(34 - w / 2, Math.min(w / 2 - 34, ends[k][0] * 1.06)), y = ends[k][1] * 1.06;
    pen.strokeText(axis.name, x, y); pen.fillText(axis.name, x, y);
  });
  const degrees = angle => Math.round(angle * 180 / Math.PI);
  document.getElementById("view").textContent =
    `turned ${((degrees(view.turn) % 360) + 360) % 360}°, tilted ${degrees(view.tilt)}°, zoom ${view.zoom.toFixed(2)}`.replace("-", "−");
}

function later() { if (!waiting) { waiting = true; requestAnimationFrame(draw); } }
function turn(right, up) {
  view.turn += right;
  view.tilt = Math.max(-1.57, Math.min(1.57, view.tilt + up));
  later();
}
function zoom(factor) { view.zoom = Math.max(0.3, Math.min(20, view.zoom * factor)); later(); }
function reset() { Object.assign(view, start); later(); }

const fingers = new Map();
canvas.addEventListener("pointerdown", event => { canvas.setPointerCapture(event.pointerId); fingers.set(event.pointerId, event); });
for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, event => fingers.delete(event.pointerId));
canvas.addEventListener("pointermove", event => {
  const before = fingers.get(event.pointerId);
  if (!before) return;
  if (fingers.size === 1) turn((event.clientX - before.clientX) * 0.01, (event.clientY - before.clientY) * 0.01);
  else {
    const other = [...fingers.values()].find(f => f.pointerId !== event.pointerId);
    const apart = e => Math.hypot(e.clientX - other.clientX, e.clientY - other.clientY) || 1;
    zoom(apart(event) / apart(before));
  }
  fingers.set(event.pointerId, event);
});
canvas.addEventListener("wheel", event => { event.preventDefault(); zoom(Math.exp(-event.deltaY * 0.0015)); }, { passive: false });
const keys = {
  ArrowLeft: () => turn(-0.1, 0), ArrowRight: () => turn(0.1, 0), ArrowUp: () => turn(0, -0.1), ArrowDown: () => turn(0, 0.1),
  "+": () => zoom(1.15), "=": () => zoom(1.15), "-": () => zoom(1 / 1.15), "−": () => zoom(1 / 1.15), 0: reset,
};
canvas.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
  event.preventDefault();
  keys[event.key]();
});
document.getElementById("in").addEventListener("click", () => zoom(1.3));
document.getElementById("out").addEventListener("click", () => zoom(1 / 1.3));
document.getElementById("reset").addEventListener("click", reset);
labels.forEach(label => label.addEventListener("click", () => {
  label.setAttribute("aria-pressed", label.getAttribute("aria-pressed") === "true" ? "false" : "true");
  later();
}));
selects.forEach(select => select.addEventListener("change", choose));
dark.addEventListener("change", later);
new ResizeObserver(later).observe(canvas);
choose();
