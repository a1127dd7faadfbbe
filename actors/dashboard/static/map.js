// The map: points on a canvas that can be moved, zoomed and chosen. The server computes the places.
"use strict";

const READABLE = 60;  // points in view whose texts are shown

const holder = document.querySelector(".map");
const canvas = document.getElementById("map");
if (canvas) start();

async function start() {
  const say = (text) => { document.getElementById("map-status").textContent = text; };
  const context = canvas.getContext("2d");
  const view = { x: 0.5, y: 0.5, zoom: 1 };
  say("Loading the map…");
  let meta, n, x, y, age, codes, colour, group, palette, texts, chosen, asked, pending = 0;
  if (!await load(holder.dataset.points, holder.dataset.salience ? "none" : holder.dataset.colour)) return;

  // Returns an answer; null for a refusal, or where the server can't be reached, which the page then says.
  async function ask(address) {
    const answer = await fetch(address).catch(() => null);
    showConnection(answer === null);
    return answer && answer.ok ? answer : null;
  }

  // Salience takes longer than the places: the points are shown without it until it is there.
  async function load(address, by) {
    const answer = await ask(address);
    if (!answer) { say("The map could not be loaded. Load the page again."); return false; }
    meta = JSON.parse(answer.headers.get("X-Map"));
    const bytes = await answer.arrayBuffer();
    n = meta.count;
    x = new Uint16Array(bytes, 0, n); y = new Uint16Array(bytes, 2 * n, n); age = new Uint16Array(bytes, 4 * n, n);
    codes = { namespace: new Uint8Array(bytes, 6 * n, n), goal: new Uint8Array(bytes, 7 * n, n), salience: new Uint8Array(bytes, 8 * n, n) };
    colour = by;
    ({ group, palette } = groups());
    [texts, chosen, asked] = [[], -1, ""];
    return true;
  }

  // Each point belongs to a group of one colour; the legend names the groups.
  function groups() {
    const styles = getComputedStyle(document.documentElement);
    const hues = Array.from({ length: 10 }, (_, index) => styles.getPropertyValue(`--hue-${index}`).trim());
    const grey = styles.getPropertyValue("--hue-none").trim();
    const ramp = (steps, names) => ({ names, colours: steps.map((step) => styles.getPropertyValue(`--ramp-${step}`).trim()) });
    let group, palette;
    if (colour === "none") {
      palette = { names: ["measuring how much each matters…"], colours: [grey] };
      group = new Uint8Array(n);
    } else if (colour === "age") {
      palette = ramp([4, 3, 2, 1, 0], ["today", "this week", "this month", "this year", "older"]);
      group = Uint8Array.from(age, (days) => (days < 1 ? 0 : days < 7 ? 1 : days < 31 ? 2 : days < 366 ? 3 : 4));
    } else if (colour === "salience") {
      palette = ramp([0, 1, 2, 3, 4], ["below .2", ".2 to .4", ".4 to .6", ".6 to .8", "above .8"]);
      group = Uint8Array.from(codes.salience, (value) => Math.min(4, Math.floor(value / 51)));
    } else {
      const names = meta[colour === "goal" ? "goals" : "namespaces"];
      const rest = names.length > 10 ? 9 : 10;
      const others = colour === "namespace" ? "others" : names.length ? "no goal, or another" : "no goals are known yet";
      palette = { names: [...names.slice(0, rest), others], colours: [...hues.slice(0, Math.min(rest, names.length)), names.length ? grey : hues[0]] };
      const last = palette.names.length - 1;
      group = Uint8Array.from(codes[colour], (code) => (code < last ? code : last));
    }
    const counts = new Array(palette.names.length).fill(0);
    for (const one of group) counts[one] += 1;
    document.getElementById("legend").replaceChildren(...palette.names.flatMap((name, index) => {
      if (!counts[index]) return [];
      const item = document.createElement("li"), spot = document.createElement("span");
      spot.className = "spot";
      spot.style.background = palette.colours[index];
      item.append(spot, `${name} (${counts[index].toLocaleString("en")})`);
      return [item];
    }));
    return { group, palette };
  }

  const scale = (length) => length * 0.92 * view.zoom / 65535;
  const left = (index) => (x[index] - 65535 * view.x) * scale(canvas.width) + canvas.width / 2;
  const top = (index) => (y[index] - 65535 * view.y) * scale(canvas.height) + canvas.height / 2;

  function draw() {
    pending = 0;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = canvas.clientWidth * ratio;
    canvas.height = canvas.clientHeight * ratio;
    const size = Math.min(10, (n < 500 ? 8 : n < 5000 ? 4 : 1.6) * Math.sqrt(view.zoom)) * ratio;
    const round = size > 3 * ratio;  // smaller ones look the same as squares, which are drawn faster
    const inside = [];
    const fx = scale(canvas.width), dx = canvas.width / 2 - 65535 * view.x * fx;
    const fy = scale(canvas.height), dy = canvas.height / 2 - 65535 * view.y * fy;
    for (let which = 0; which < palette.colours.length; which += 1) {
      context.fillStyle = palette.colours[which];
      for (let index = 0; index < n; index += 1) {
        if (group[index] !== which) continue;
        const px = x[index] * fx + dx, py = y[index] * fy + dy;
        if (px < 0 || py < 0 || px > canvas.width || py > canvas.height) continue;
        inside.push(index);
        if (!round) { context.fillRect(px - size / 2, py - size / 2, size, size); continue; }
        context.beginPath();
        context.arc(px, py, size / 2, 0, 7);
        context.fill();
      }
    }
    if (chosen >= 0) {
      context.strokeStyle = getComputedStyle(canvas).color;
      context.lineWidth = 2 * ratio;
      context.beginPath();
      context.arc(left(chosen), top(chosen), size + 4 * ratio, 0, 7);
      context.stroke();
    }
    label(ratio, inside.length <= READABLE ? inside : []);
    const more = meta.total > n ? ` Of ${meta.total.toLocaleString("en")} memories, every ${Math.ceil(meta.total / n)}th is shown.` : "";
    say(`${inside.length.toLocaleString("en")} of ${n.toLocaleString("en")} points in view.${more}${inside.length > READABLE ? " Zoom in to read them." : ""}`);
    if (inside.length && inside.length <= READABLE) read(inside);
  }

  // Each text is beside, below or above its point, where it covers no other text and no point; else zooming in shows it.
  function label(ratio, inside) {
    context.fillStyle = getComputedStyle(canvas).color;
    context.font = `${12 * ratio}px system-ui, sans-serif`;
    const high = 7 * ratio, near = 5 * ratio;
    const taken = inside.map((index) => ({ x: left(index), y: top(index), wide: near, high: near }));
    const free = (box) => box.x > box.wide && box.x + box.wide < canvas.width && !taken.some((two) => Math.abs(two.x - box.x) < two.wide + box.wide && Math.abs(two.y - box.y) < two.high + box.high);
    for (const one of texts) {
      const line = one.content.replace(/\s+/g, " "), text = line.length > 38 ? `${line.slice(0, 37)}…` : line;
      const x = left(one.n), y = top(one.n), wide = context.measureText(text).width / 2, aside = wide + 9 * ratio, away = 13 * ratio;
      const box = [[aside, 0], [-aside, 0], [0, away], [0, -away]].map(([dx, dy]) => ({ x: x + dx, y: y + dy, wide, high })).find(free);
      if (!box) continue;
      context.fillText(text, box.x - wide, box.y + 4 * ratio);
      taken.push(box);
    }
  }

  async function fetchTexts(points) {
    const answer = await ask(`${holder.dataset.texts}${holder.dataset.texts.includes("?") ? "&" : "?"}map=${meta.token}&n=${points.join(",")}`);
    return answer ? answer.json() : [];
  }

  async function read(points) {
    const wanted = points.join(",");
    if (wanted === asked) return;
    asked = wanted;
    const found = await fetchTexts(points);
    if (wanted === asked) { texts = found; redraw(); }
  }

  const redraw = () => { if (!pending) pending = requestAnimationFrame(draw); };
  const move = (dx, dy, zoom = 1) => {
    view.zoom = Math.max(1, Math.min(400, view.zoom * zoom));
    view.x = Math.max(0, Math.min(1, view.x + dx / view.zoom));
    view.y = Math.max(0, Math.min(1, view.y + dy / view.zoom));
    redraw();
  };

  async function choose(px, py) {
    let best = Infinity;
    for (let index = 0; index < n; index += 1) {
      const distance = (left(index) - px) ** 2 + (top(index) - py) ** 2;
      if (distance < best) [best, chosen] = [distance, index];
    }
    const [one] = await fetchTexts([chosen]);
    if (!one) return;
    const link = Object.assign(document.createElement("a"), { href: one.url, textContent: one.content, className: "text" });
    const place = Object.assign(document.createElement("p"), { className: "meta", textContent: `${one.created.slice(0, 16).replace("T", " ")} in ${one.namespace}` });
    document.getElementById("chosen").replaceChildren(link, place);
    redraw();
  }

  let drag = null;
  canvas.addEventListener("pointerdown", (event) => { drag = { x: event.offsetX, y: event.offsetY, moved: false }; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const dx = event.offsetX - drag.x, dy = event.offsetY - drag.y;
    if (Math.abs(dx) + Math.abs(dy) > 3) drag.moved = true;
    if (drag.moved) { move(-dx / (0.92 * canvas.clientWidth), -dy / (0.92 * canvas.clientHeight)); drag.x = event.offsetX; drag.y = event.offsetY; }
  });
  canvas.addEventListener("pointerup", (event) => {
    const ratio = window.devicePixelRatio || 1;
    if (drag && !drag.moved) choose(event.offsetX * ratio, event.offsetY * ratio);
    drag = null;
  });
  canvas.addEventListener("wheel", (event) => { event.preventDefault(); move(0, 0, event.deltaY < 0 ? 1.2 : 1 / 1.2); }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1], "+": [0, 0, 1.6], "=": [0, 0, 1.6], "-": [0, 0, 0.625] };
    if (event.key === "Enter") choose(canvas.width / 2, canvas.height / 2);
    else if (steps[event.key]) move(...steps[event.key]);
    else return;
    event.preventDefault();
  });
  for (const button of document.querySelectorAll("[data-zoom]")) button.addEventListener("click", () => {
    if (button.dataset.zoom === "0") Object.assign(view, { x: 0.5, y: 0.5, zoom: 1 });
    move(0, 0, Number(button.dataset.zoom) || 1);
  });
  new ResizeObserver(redraw).observe(canvas);
  draw();
  if (holder.dataset.salience && await load(holder.dataset.salience, "salience")) redraw();
}
