// A word's attention: arcs, a row, the matrix, the mixed vector. Texts are set as text, never as markup.
const SVG = "http://www.w3.org/2000/svg";
const make = (name, attributes = {}) => {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
};
const text = (words, attributes) => {
  const node = make("text", attributes);
  node.textContent = words;
  return node;
};
// Viridis and the figures' scale of two signs, at equal steps.
const SHARES = [[68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99],
  [170, 220, 50], [253, 231, 37]];
const SIGNS = [[0, 114, 178], [244, 241, 234], [213, 94, 0]];
const between = (scale, share) => {
  const at = Math.max(0, Math.min(1, share)) * (scale.length - 1), low = Math.min(Math.floor(at), scale.length - 2);
  return scale[low].map((part, i) => Math.round(part + (scale[low + 1][i] - part) * (at - low)));
};
const strip = (values, top) => {  // a vector as a column of colours
  const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: values.length });
  const context = canvas.getContext("2d");
  values.forEach((value, i) => {
    context.fillStyle = `rgb(${between(SIGNS, 0.5 + value / top / 2)})`;
    context.fillRect(0, i, 1, 1);
  });
  return canvas.toDataURL();
};
const place = (node, x, y, width, height) => { node.style.transform = `translate(${x}px, ${y}px) scale(${width}, ${height})`; };
const move = (node, x, y) => { node.style.transform = `translate(${x}px, ${y}px)`; };
const percent = (share) => `${Math.round(100 * share)}%`;

export default function (component) {
  const { data, parentElement, setStateValue, setTriggerValue } = component;
  const find = (name) => parentElement.querySelector(name);
  const svg = find(".mb-arcs > svg"), said = find(".said"), way = find(".way"), count = data.tokens.length;
  const view = (parentElement.mbView ??= { told: { stage: [], row: [] }, heard: {} });
  // The server's word counts, but not where it repeats, perhaps late, what it heard from here.
  for (const [name, told] of Object.entries(view.told)) {
    if (told.includes(data[name])) told.splice(0, told.indexOf(data[name]) + 1);
    else if (data[name] !== view.heard[name]) view[name] = data[name];
    view.heard[name] = data[name];
  }
  const drawn = [...data.tokens, ...data.rows].join("\n"), other = view.tokens !== drawn;
  if (other) {  // other tokens are drawn: rows told before were counted in the old ones
    view.row = data.row;
    view.told.row = [];
  }
  view.row = Math.min(view.row, count - 1);
  find(".mb-arcs").classList.toggle("large", data.large);
  way.hidden = data.asked;  // until the reader has guessed, the arcs are all alike, and there is nothing else
  const last = data.words.stages.length - 1, all = [...Array(count).keys()];

  view.leave?.();
  if (other || !svg.firstChild) {  // nothing to move: all is drawn anew
    view.tokens = drawn;
    const group = (name, of) => {
      const made = make("g", { class: name });
      made.append(...of);
      return made;
    };
    view.parts = {
      arcs: group("arcs", all.map(() => make("path", { class: "arc" }))),
      cells: group("cells", all.flatMap((i) => all.map((j) => {
        const cell = make("g", { class: "cell", "data-row": i, "data-column": j });
        cell.append(make("rect"), text("", { class: "number", "text-anchor": "middle", "dominant-baseline": "central" }));
        return cell;
      }))),
      values: group("values", all.map(() => make("image", { class: "value", width: 1, height: 1, preserveAspectRatio: "none" }))),
      flies: group("flies", all.map(() => make("image", { class: "fly", width: 1, height: 1, preserveAspectRatio: "none" }))),
      shares: group("shares", all.map(() => text("", { class: "share", "text-anchor": "middle" }))),
      tokens: group("tokens", data.tokens.map((token) => text(token, { class: "token" }))),
      names: group("names", data.tokens.map((token) => text(token, { class: "rowname line", "text-anchor": "end", "dominant-baseline": "central" }))),
      mixed: make("image", { class: "mixed", width: 1, height: 1, preserveAspectRatio: "none" }),
      mixedName: text(data.words.new, { class: "share mixed-name", "text-anchor": "middle" }),
      frame: make("rect", { class: "frame" }),
    };
    svg.replaceChildren(...Object.values(view.parts));
  }
  const parts = view.parts, cell = (i, j) => parts.cells.children[i * count + j];

  function draw() {
    const { width, height } = svg.getBoundingClientRect();
    if (!width) return;
    const { row } = view, stage = data.asked ? 0 : view.stage, size = parseFloat(getComputedStyle(find(".mb-arcs")).fontSize);
    const shares = data.probs[row], most = Math.max(...shares) || 1;
    const letters = Math.max(...data.tokens.map((token) => Math.min(token.length, 12))), longest = letters * size * 0.55;
    const first = Math.min(data.tokens[0].length, 12) * size * 0.4;  // what a leaning name reaches back
    const left = stage === 2 ? longest + 16 : (width - 28) / count < 60 ? Math.max(14, first) : 14, right = stage === 3 ? size * 6.6 : 14;
    const wide = (width - left - right) / count, fits = (wide - 4) / letters / 0.58, leaning = fits < 14;
    const foot = height - (leaning ? Math.min(longest * 0.8, 90) + 22 : size * 2.1), top = 12;
    const middle = (j) => left + (j + 0.5) * wide, furthest = Math.max(row, count - 1 - row) * wide / 2;
    const lift = Math.max(0.95, Math.min(1.7, (foot - 34) / furthest));  // a narrow picture has room above its arcs
    svg.setAttribute("aria-label", data.findings[row]);
    find(".finding").textContent = data.findings[row];

    parts.arcs.style.transformOrigin = `0 ${foot}px`;
    parts.arcs.style.transform = `scaleY(${stage ? 0 : 1})`;
    parts.arcs.style.opacity = stage ? 0 : 1;
    all.forEach((j) => {
      const arc = parts.arcs.children[j], reach = Math.abs(middle(j) - middle(row)) / 2;
      const rise = j === row ? 46 : Math.min(reach * lift, foot - 34), half = j === row ? wide * 0.22 : reach;
      const [from, to] = j === row ? [middle(j) - half, middle(j) + half] : [middle(Math.min(row, j)), middle(Math.max(row, j))];
      arc.setAttribute("d", `M${from},${foot}A${half},${rise},0,0,1,${to},${foot}`);
      arc.setAttribute("stroke-width", 1 + 30 * shares[j]);
      arc.setAttribute("opacity", 0.25 + 0.7 * Math.min(1, shares[j] / most));
      const share = parts.shares.children[j];
      share.textContent = shares[j] >= (wide > 38 ? 0.03 : 0.15) ? percent(shares[j]) : "";
      move(share, middle(j), foot - 7);
      share.style.opacity = stage ? 0 : 1;
      share.style.fontSize = `${wide > 44 ? size : size * 0.82}px`;

      const token = parts.tokens.children[j];
      token.classList.toggle("chosen", j === row);
      token.style.fontSize = `${leaning ? size * 0.95 : Math.min(size, fits)}px`;
      token.setAttribute("text-anchor", leaning ? "end" : "middle");
      token.setAttribute("transform", `translate(${middle(j) + (leaning ? 6 : 0)},${foot + (leaning ? 16 : size * 1.3)})${leaning ? " rotate(-50)" : ""}`);
      token.textContent = shorten(data.tokens[j]);
    });

    const tall = (foot - 6 - top) / count, one = Math.min(52, foot - top - 10);
    const high = [2, one, tall, 40][stage], y = (i) => [foot - 8, foot - one - 8, top + i * tall, top][stage];
    all.forEach((i) => all.forEach((j) => {
      const box = cell(i, j), share = data.probs[i][j], colour = between(SHARES, share), seen = stage === 2 || (stage && i === row);
      move(box, left + j * wide, y(i));
      box.style.opacity = seen ? 1 : 0;
      box.style.pointerEvents = seen ? "auto" : "none";
      const [rect, number] = box.children;
      rect.setAttribute("width", wide - 1);
      rect.setAttribute("height", Math.max(high - 1, 1));
      rect.setAttribute("fill", `rgb(${colour})`);
      number.textContent = wide > 34 && high >= 17 ? share.toFixed(2).replace(/^0/, "") : "";
      number.setAttribute("x", wide / 2);
      number.setAttribute("y", high / 2);
      number.style.fontSize = `${Math.min(size, stage === 2 ? high * 0.8 : size)}px`;
      number.style.fill = colour[0] * 0.3 + colour[1] * 0.59 + colour[2] * 0.11 > 125 ? "#111" : "#fff";
    }));
    all.forEach((i) => {
      const name = parts.names.children[i];
      name.textContent = shorten(data.tokens[i]);
      name.classList.toggle("chosen", i === row);
      move(name, left - 8, y(i) + high / 2);
      name.style.opacity = stage === 2 ? 1 : 0;
      name.style.pointerEvents = stage === 2 ? "auto" : "none";
      name.style.fontSize = `${Math.max(13, Math.min(size, tall * 0.85))}px`;
    });
    const frame = parts.frame;
    frame.style.opacity = stage ? 1 : 0;
    for (const [name, value] of Object.entries({ x: left - 1, y: y(row) - 1, width: wide * count + 1, height: high + 1 }))
      frame.setAttribute(name, value);

    const begin = top + 62, length = foot - 6 - begin, largest = Math.max(0.01, ...data.values.flat().map(Math.abs));
    const goal = width - right + size * 2.4, span = size * 1.8;
    all.forEach((j) => {
      const broad = Math.max(1, (shares[j] / most) * wide * 0.85), from = middle(j) - broad / 2;
      const [value, fly] = [parts.values.children[j], parts.flies.children[j]];
      for (const image of [value, fly]) image.setAttribute("href", (view.strips ??= {})[`${data.values[j]}`] ??= strip(data.values[j], largest));
      place(value, from, stage === 3 ? begin : foot, broad, stage === 3 ? length : 1);
      value.style.opacity = stage === 3 ? 1 : 0;
      fly.classList.toggle("gone", stage === 3);
      place(fly, stage === 3 ? goal : from, begin, stage === 3 ? span : broad, length);
      fly.style.opacity = 0;
    });
    if (stage === 3 && view.before !== 3 && !view.still) all.forEach((j) => fly(parts.flies.children[j]));
    const total = Math.max(0.01, ...data.mixed.flat().map(Math.abs));
    parts.mixed.setAttribute("href", strip(data.mixed[row], Math.max(total, largest * most)));
    place(parts.mixed, goal, begin, span, length);
    parts.mixed.classList.toggle("there", stage === 3);
    parts.mixedName.style.fontSize = `${size * 0.9}px`;
    move(parts.mixedName, goal + span / 2, begin - 12);
    for (const node of [parts.mixed, parts.mixedName]) node.style.opacity = stage === 3 ? 1 : 0;
    view.before = stage;
    view.still = false;
    [...way.children].forEach((button) => {
      const number = Number(button.dataset.stage);
      if (button.dataset.stage !== undefined) button.setAttribute("aria-current", number === stage ? "step" : "false");
    });
  }

  function fly(node) {  // seen only on its way
    node.animate?.([{ opacity: 0.9 }, { opacity: 0.9, offset: 0.75 }, { opacity: 0 }],
      { duration: matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 1900, fill: "none" });
  }

  const shorten = (token) => (token.length > 12 ? `${token.slice(0, 11)}…` : token);
  const tell = (words) => { said.textContent = data.asked ? "" : words ?? data.words.said[view.stage]; };

  function go(stage) {
    view.stage = Math.max(0, Math.min(last, stage));
    draw();
    tell();
    clearTimeout(view.later);  // the server hears of it when the reader has stopped
    view.later = setTimeout(() => {
      if (view.stage !== (view.told.stage.at(-1) ?? view.heard.stage)) view.told.stage.push(view.stage);
      setStateValue("stage", view.stage);
    }, 250);
  }

  function choose(row, column) {
    if (row !== (view.told.row.at(-1) ?? view.heard.row)) view.told.row.push(row);
    view.row = row;
    draw();
    const at = data.rows[row];
    setTriggerValue("clicked", column === undefined ? { row: at } : { row: at, column: data.rows[column] });
  }

  function halt() {
    clearInterval(view.playing);
    view.playing = null;
    play.textContent = data.words.play;
  }

  const button = (words, click) => {
    const made = Object.assign(document.createElement("button"), { type: "button", textContent: words, onclick: click });
    return made;
  };
  const play = button(view.playing ? data.words.pause : data.words.play, () => {
    if (view.playing) return halt();
    go(view.stage === last ? 0 : view.stage + 1);
    play.textContent = data.words.pause;
    view.playing = setInterval(() => (view.stage === last ? view.halt() : view.go(view.stage + 1)), 2600);
  });
  way.replaceChildren(...data.words.stages.map((name, number) => {
    const made = button(`${number + 1}. ${name}`, () => { halt(); go(number); });
    made.dataset.stage = number;
    return made;
  }), play);
  Object.assign(view, { go, halt });  // those of the newest data

  parts.tokens.onclick = parts.names.onclick = (event) => {
    const row = [...event.currentTarget.children].indexOf(event.target);
    if (row >= 0) choose(row);
  };
  parts.cells.onclick = (event) => {
    const box = event.target.closest(".cell");
    if (box) choose(Number(box.dataset.row), Number(box.dataset.column));
  };
  parts.cells.onpointerover = (event) => {
    const box = event.target.closest(".cell");
    if (!box) return;
    const [i, j] = [Number(box.dataset.row), Number(box.dataset.column)];
    tell(`${data.tokens[i]} → ${data.tokens[j]}: ${data.probs[i][j].toFixed(4)}`);
  };
  parts.cells.onpointerout = () => tell();
  svg.onkeydown = (event) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    choose(Math.max(0, Math.min(count - 1, view.row + by)));
  };

  // → and ← anywhere outside fields.
  const keys = (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key], at = event.composedPath()[0];
    if (!by || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    if (at.closest?.('input, textarea, select, [contenteditable], [role="slider"], [role="tab"], [role="radio"], [role="combobox"]')) return;
    if (data.asked || view.stage + by < 0 || view.stage + by > last) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    halt();
    go(view.stage + by);
  };
  window.addEventListener("keydown", keys, true);
  tell();
  draw();
  const watcher = new ResizeObserver(() => { view.still = true; draw(); });
  watcher.observe(svg);
  view.leave = () => {
    watcher.disconnect();
    window.removeEventListener("keydown", keys, true);
  };
  return view.leave;
}
