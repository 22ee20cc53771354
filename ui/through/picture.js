// One sentence through BERT: one row per token, from its letters on the left to the predictions on the right.
// Static parts are one SVG; moving parts are one small element per token, moved by transforms in one animation frame.
// Texts are set as textContent, never as markup.
const SVG = "http://www.w3.org/2000/svg";
const MOVE = 650;  // milliseconds from one stage to the next
const DRAWN = 6;
const LOW = [0, 114, 178], MIDDLE = [244, 241, 234], HIGH = [213, 94, 0];  // diverging colour scale around zero, as in plots.theme
const VIRIDIS = ["#440154", "#414487", "#2a788e", "#22a884", "#7ad151", "#fde725"].map(
  (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
const still = matchMedia("(prefers-reduced-motion: reduce)");

const make = (name, attributes = {}, text = null) => {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== null) node.textContent = text;
  return node;
};
const tag = (name, css, text = null) => {
  const node = document.createElement(name);
  if (css) node.className = css;
  if (text !== null) node.textContent = text;
  return node;
};
const joined = (sentence, next) => sentence + (/[\u3000-\uffef]$/.test(sentence) ? "" : " ") + next;  // a Chinese full stop is wide enough
const fill = (words, values) => words.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
const mix = (a, b, share) => `rgb(${a.map((v, i) => Math.round(v + (b[i] - v) * share)).join()})`;
const signed = (value) => (value < 0 ? mix(MIDDLE, LOW, Math.min(1, -value)) : mix(MIDDLE, HIGH, Math.min(1, value)));
const bright = (share) => {
  const at = Math.min(Math.max(share, 0), 1) * 5, low = Math.min(4, Math.floor(at));
  return mix(VIRIDIS[low], VIRIDIS[low + 1], at - low);
};
const percent = (thousandths) => `${(thousandths / 10).toFixed(1)}\u00a0%`;
const number = (hundredths) => (hundredths / 100).toFixed(2).replace("-", "−");
// Full colour is at 2.2 times the root mean square of a column's numbers, so that an outlier does not pale all others.
const strong = (rows) => {
  const all = rows.flat(9);
  return 2.2 * Math.sqrt(all.reduce((sum, value) => sum + value * value, 0) / all.length) || 1;
};
const unpack = (text) => {
  const values = new Uint16Array(text.length / 2);
  for (let i = 0; i < values.length; i++) values[i] = parseInt(text.slice(2 * i, 2 * i + 2), 36);
  return values;
};

const unfold = (model) => Object.fromEntries(Object.entries(model).map(([name, value]) =>
  [name, typeof value === "string" && ["parts", "lengths", "states", "adds"].includes(name) ? JSON.parse(value) : value]));

export default function (component) {
  const { parentElement, setStateValue, setTriggerValue } = component;
  const data = { ...component.data, models: component.data.models.map(unfold) };
  const root = parentElement.querySelector(".mb-through"), find = (name) => root.querySelector(name);
  const svg = find("svg"), scene = find(".scene"), moving = find(".moving"), tip = find(".tip"), said = find(".said");
  const words = data.words;
  const view = (parentElement.mbView ??= { at: 0, from: null, playing: false, shown: null, head: null });
  view.stop?.();

  // --- state: use the server's values if they differ from those last reported from here
  const shown = `${data.identity} ${data.waiting}`;
  const model = () => data.models[view.model];
  const last = () => model().layers + 3;
  const ready = !data.waiting;
  if (view.model === undefined || data.model !== view.toldModel) view.model = view.toldModel = data.model;
  view.model = Math.min(view.model, data.models.length - 1);
  if (view.shown !== shown) {
    const again = view.identity === data.identity;  // same picture: only the numbers are new
    view.shown = shown;
    view.identity = data.identity;
    view.focus = data.token ? data.models[view.model].rows.indexOf(data.token) : null;
    if (view.focus === -1) view.focus = null;
    view.heard = data.stage;
    view.told = [];
    view.target = null;
    if (!ready) view.at = 1;
    else if (data.stage) view.at = data.stage - 1;
    else if (still.matches) view.at = last();
    else {
      view.at = again ? 1 : 0;
      view.playing = true;
    }
  } else if (view.told.includes(data.stage)) {  // the server echoes, perhaps late, a stage reported from here
    view.told.splice(0, view.told.indexOf(data.stage) + 1);
    view.heard = data.stage;
  } else if (data.stage !== view.heard) {
    view.heard = data.stage;
    view.target = null;
    view.playing = false;
    view.at = data.stage ? data.stage - 1 : last();
  }
  view.at = Math.min(view.at, last());

  const unpacked = new Map();
  const weights = () => {
    const m = model();
    if (!unpacked.has(m)) unpacked.set(m, { all: unpack(m.weights), mean: unpack(m.mean) });
    return unpacked.get(m);
  };
  const weightOf = (layer, head, row, column) => {
    const T = model().tokens.length, A = model().heads, w = weights();
    return head === null ? w.mean[(layer * T + row) * T + column] : w.all[((layer * A + head) * T + row) * T + column];
  };
  const strongest = (layer, row, column) => {
    let best = 0;
    for (let head = 1; head < model().heads; head++)
      if (weightOf(layer, head, row, column) > weightOf(layer, best, row, column)) best = head;
    return best;
  };
  const mostOf = (layer, head, row) => {
    let best = 0;
    for (let column = 1; column < model().tokens.length; column++)
      if (weightOf(layer, head, row, column) > weightOf(layer, head, row, best)) best = column;
    return best;
  };
  const focus = () => Math.min(view.focus ?? model().blank ?? model().tokens.indexOf("[MASK]"), model().tokens.length - 1);
  const values = (row) => row.map(number).join(", ");

  // --- layout
  let place = null;
  function measure() {
    const m = model(), W = scene.clientWidth, T = m.tokens.length, L = m.layers;
    if (!W) return null;
    const type = parseFloat(getComputedStyle(root).fontSize), narrow = W < 40 * type && W < 700;
    const room = narrow ? Math.max(330, innerHeight * 0.62) : Math.max(300, Math.min(innerHeight * 0.5, innerHeight - 490));  // what is below it is in sight
    const headRows = Math.ceil(m.heads / 6), square = narrow ? 4 : type * 0.5;
    const top = narrow ? 6 : headRows * (square + 2) + 8;
    const row = Math.min(Math.max((room - top) / T, 19, type * 0.98), type * 2);
    const size = Math.max(13.5, Math.min(type, row * 0.74));
    const pen = (measure.pen ??= document.createElement("canvas").getContext("2d"));
    pen.font = `${size}px ${getComputedStyle(root).fontFamily}`;
    const wide = (texts) => Math.max(...texts.map((text) => pen.measureText(text).width));
    const named = (name) => (pen.measureText(name).width * type * 0.95) / size + 4;
    const letters = Math.max(named(words.letters), Math.min(wide([...m.letters, m.word]) + 14, W * (narrow ? 0.19 : 0.13)));
    const pieces = Math.max(named(words.pieces), Math.min(wide(m.tokens) + 20, W * (narrow ? 0.22 : 0.15)));
    const answers = narrow ? 0 : Math.max(W * 0.2, type * 10.5);
    const vectors = narrow ? W * 0.12 : Math.max(type * 4, Math.min(W * 0.085, type * 6));
    const start = letters + pieces + vectors, block = (W - start - answers - (narrow ? 0 : type)) / L;
    const strip = Math.min(block * 0.38, type * 2.6), part = Math.min(vectors * 0.4, type * 2.2);
    return { W, T, L, type, narrow, top, row, size, letters, pieces, vectors, start, block, strip, part, answers, square, pen,
      perRow: Math.min(6, m.heads), height: top + T * row + 4, sum: start - part - 3, line: Math.min(row * 0.9, (block - strip) * 0.4), mark: Math.min(row * 0.44, (block - strip) * 0.1),
      y: (i) => top + (i + 0.5) * row,
      stripAt: (layer) => start + (layer + 1) * block - strip,
      lineEnd: (layer) => start + layer * block + (block - strip) * 0.55,
      headAt: (layer, head) => [start + layer * block + 6 + (head % Math.min(6, m.heads)) * (square + 2),
        3 + Math.floor(head / Math.min(6, m.heads)) * (square + 2)] };
  }
  const shorten = (text, width) => {
    if (place.pen.measureText(text).width <= width) return text;
    let end = text.length;
    while (end > 1 && place.pen.measureText(text.slice(0, end) + "…").width > width) end--;
    return text.slice(0, end) + "…";
  };

  // --- the columns, one group each; columns that the tokens have not reached are hidden
  let columns = [], lines = [], marked = null, movers = [];
  const strips = (group, rows, x, width, height, scale, shift = 0) => rows.forEach((row, i) => row.forEach((value, n) => {
    group.append(make("rect", { x: x + (n * width) / DRAWN, y: place.y(i) - height / 2 + shift, width: width / DRAWN + 0.3,
      height, fill: signed(value / scale) }));
  }));

  function draw() {
    place = measure();
    if (!place) return;
    const m = model(), { T, L, y, row, size, type, letters, pieces, sum, part, strip, block } = place;
    svg.setAttribute("viewBox", `0 0 ${place.W} ${place.height}`);
    svg.setAttribute("aria-label", data.alt);
    svg.style.height = `${place.height}px`;
    svg.replaceChildren();
    columns = Array.from({ length: L + 4 }, () => svg.appendChild(make("g", { class: "column" })));
    const text = (group, x, i, words, css, width) => {
      const shownText = shorten(words, width);
      group.append(make("text", { x, y: y(i) + size * 0.35, "font-size": size, class: css }, shownText));
    };
    m.tokens.forEach((token, i) => {
      const hidden = token === "[MASK]" && i === (m.blank ?? m.tokens.indexOf("[MASK]"));
      const between = i + 1 === T ? m.rows[i] < m.count : m.rows[i + 1] > m.rows[i] + 1;  // here tokens are left out
      text(columns[0], 2, i, (hidden ? m.word : m.letters[i]) + (between ? " …" : ""), hidden ? "covered" : "letters", letters - 6);
      columns[1].append(make("rect", { x: letters, y: y(i) - row * 0.4, width: 4, height: row * 0.8,
        fill: data.hues.segments[m.segments[i]] }));
      if (hidden) columns[1].append(make("rect", { x: letters + 5, y: y(i) - row * 0.45, width: pieces - 8, height: row * 0.9, rx: 4,
        fill: data.hues.mask, "fill-opacity": 0.3, stroke: data.hues.mask, "stroke-width": 1.5 }));
      text(columns[1], letters + 9, i, token, m.added[i] ? "piece put" : "piece", pieces - 14);
    });
    marked = make("rect", { class: "marked", x: letters - 1.5, width: pieces + 1, height: row - 1, rx: 5 });
    columns[1].append(marked);
    lines = [];
    if (ready) {
      const scale = strong(m.parts), third = Math.max(2, row * 0.22);
      for (let n = 0; n < 3; n++) strips(columns[2], m.parts[n], letters + pieces + 4, part, third, scale, (n - 1) * (third + 1));
      strips(columns[2], m.parts[3], sum, part, row * 0.62, strong(m.parts[3]));
      for (let layer = 0; layer < L; layer++) {
        const group = columns[layer + 3], x = place.lineEnd(layer), middle = (x + place.stripAt(layer)) / 2;
        lines.push(m.tokens.map(() => group.appendChild(make("path", { class: "line" }))));
        for (let head = 0; head < m.heads && !place.narrow; head++) {
          const [left, above] = place.headAt(layer, head);
          group.append(make("rect", { class: "head", "data-head": `${layer}.${head}`, x: left, y: above, width: place.square,
            height: place.square }));
        }
        m.tokens.forEach((_token, i) => {
          const side = (n) => place.mark * Math.sqrt(Math.min(1, m.adds[layer][n][i] / 100));  // by area; full: as long as its own
          const heads = side(0), network = side(1) * 0.9;
          group.append(make("circle", { class: "adds", cx: x, cy: y(i), r: heads }),
            make("rect", { class: "adds", x: middle - network, y: y(i) - network, width: 2 * network, height: 2 * network }));
        });
        strips(group, m.states[layer + 1], place.stripAt(layer), strip, row * 0.62, strong(m.states[layer + 1]));
      }
    }
    names();
    answers();
    moving.replaceChildren(...m.tokens.map(() => tag("div", "mover")));
    movers = [...moving.children];
    movers.forEach((mover) => { mover.style.height = `${row * 0.62}px`; mover.style.width = `${strip}px`; });
    look();
    tick(true);
  }

  function names() {
    const m = model(), { narrow, start, block, letters, pieces } = place;
    const entries = [["letters", words.letters, 0, letters], ["pieces", words.pieces, letters, pieces],
      ["vectors", narrow ? "Σ" : words.vectors, letters + pieces, start - letters - pieces]];
    for (let n = 0; n < m.layers; n++)
      entries.push(["network", narrow ? `${n + 1}` : fill(words.block, { n: n + 1 }), start + n * block, block]);
    if (!narrow) entries.push(["blank", words.answers, place.W - place.answers, place.answers]);
    const nav = find(".names");
    nav.replaceChildren(...entries.map(([stage, title, x, width], n) => {
      const link = tag("a", "", title);
      link.dataset.stage = n;
      if (data.pages[stage]) link.href = data.pages[stage];
      link.title = stage === "network" ? words.inside : words.open;
      link.style.left = `${x}px`;
      link.style.width = `${width - 2}px`;
      link.onclick = (event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        go({ to: stage, layer: n >= 3 ? n - 3 : undefined, row: model().rows[focus()] - 1 });
      };
      return link;
    }));
  }

  // --- the answers: boxes on the right, or below on a phone
  const bar = (share, css) => {
    const scale = tag("span", `scale ${css ?? ""}`), inner = tag("i");
    inner.style.transform = `scaleX(${Math.min(Math.max(share, 0), 1)})`;
    scale.append(inner);
    return scale;
  };
  function box(stage, title, ...inside) {
    const link = tag("a", `answer ${stage}`);
    if (data.pages[stage]) link.href = data.pages[stage];
    link.onclick = (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey) return;
      event.preventDefault();
      go({ to: stage });
    };
    link.append(tag("b", "", title), ...inside);
    return link;
  }
  function answers() {
    const m = model(), panel = find(".answers"), group = columns[m.layers + 3];
    scene.classList.toggle("narrow", place.narrow);
    panel.style.width = place.narrow ? "" : `${place.answers}px`;
    if (!ready) {
      panel.replaceChildren(tag("p", "loading", words.loading));
      panel.style.opacity = 1;
      return;
    }
    const f = m.follows, near = f && Math.abs(f[0] - 0.5) < 0.1;
    const verdict = f ? fill(near ? words.tossup : f[0] > 0.5 ? words.yes : words.no, { share: f[1] }) : words.single;
    const pair = box("pair", words.follows, tag("span", "verdict", verdict), ...(f ? [bar(f[0], "half")] : []));
    const task = box("class", words.class, tag("span", "", words.noclass));
    const list = (m.guesses ?? []).map(([word, share, size, right]) => {
      const line = tag("span", right ? "guess right" : "guess");
      line.append(tag("bdi", "", right ? `${word} ✓` : word), tag("em", "", share), bar(size));
      return line;
    });
    const blank = box("blank", fill(words.expects, { word: m.word }), ...(m.guesses ? list : [tag("span", "", words.guess)]));
    if (m.place && !m.guesses.some((guess) => guess[3]))
      blank.append(tag("span", "rank", fill(words.place, { word: m.word, n: m.place[0].toLocaleString("en"), share: m.place[1] })));
    panel.replaceChildren(pair, task, blank);
    if (place.narrow) return;
    const lowest = blank.offsetTop, wanted = place.y(m.blank) - 24, room = place.height - blank.offsetHeight;
    blank.style.marginTop = `${Math.max(0, Math.min(wanted, room) - lowest)}px`;
    const x0 = place.stripAt(m.layers - 1) + place.strip + 2, x1 = place.W - place.answers - 2;
    const join = (i, to) => {
      const [y0, y1] = [place.y(i), to.offsetTop + Math.min(16, to.offsetHeight / 2)], middle = (x0 + x1) / 2;
      group.append(make("path", { class: "join", d: `M${x0},${y0}C${middle},${y0} ${middle},${y1} ${x1},${y1}` }));
    };
    join(0, pair);
    join(0, task);
    join(m.blank, blank);
    if (panel.offsetHeight > place.height) {
      place.height = panel.offsetHeight + 2;
      svg.setAttribute("viewBox", `0 0 ${place.W} ${place.height}`);
      svg.style.height = `${place.height}px`;
    }
  }

  // --- attention of the chosen token
  function look() {
    if (!place) return;
    const row = focus();
    marked.setAttribute("y", place.y(row) - place.row / 2 + 0.5);
    if (ready) {
      lines.forEach((paths, layer) => {
        const head = view.head?.layer === layer ? view.head.head : null;
        const x0 = layer ? place.stripAt(layer - 1) + place.strip + 1 : place.start, x1 = place.lineEnd(layer), y1 = place.y(row);
        paths.forEach((path, column) => {
          const weight = weightOf(layer, head, row, column) / 1000, y0 = place.y(column), middle = (x0 + x1) / 2;
          path.style.display = weight < 0.01 ? "none" : "";
          path.setAttribute("d", `M${x0},${y0}C${middle},${y0} ${middle},${y1} ${x1},${y1}`);
          path.setAttribute("stroke-width", weight * place.line);
        });
      });
      for (const square of svg.querySelectorAll(".head")) {
        const [layer, head] = square.dataset.head.split(".").map(Number);
        square.setAttribute("fill", bright(weightOf(layer, head, row, mostOf(layer, head, row)) / 1000));
        square.classList.toggle("here", view.head?.layer === layer && view.head?.head === head);
      }
    }
  }

  // --- movement
  const colours = (row, scale) => {
    const steps = row.map((value, n) => {
      const colour = signed(value / scale);
      return `${colour} ${(n * 100) / DRAWN}% ${((n + 1) * 100) / DRAWN}%`;
    });
    return `linear-gradient(90deg, ${steps.join()})`;
  };
  const stopAt = (stage) => {  // positions of the tokens' vectors at a stage
    if (stage <= 1) return place.letters + place.pieces + 4;
    if (stage === 2) return place.sum;
    if (stage <= place.L + 2) return place.stripAt(stage - 3);
    return place.W - place.answers - place.strip;
  };
  let dressed = null;
  function dress(stage) {  // their colours from a stage on
    if (dressed === stage || !ready) return;
    dressed = stage;
    const m = model(), rows = stage < 2 ? m.parts[0] : stage === 2 ? m.parts[3] : m.states[Math.min(stage, place.L + 2) - 2];
    const scale = strong(rows);
    movers.forEach((mover, i) => { mover.style.background = colours(rows[i], scale); });
  }
  function tick(jump = false) {
    if (!place) return;
    const base = Math.floor(view.at), share = view.at - base, eased = share * share * (3 - 2 * share), final = base >= last();
    if (jump) dressed = null;
    if (view.base !== base) {
      view.base = base;
      speak();
    }
    columns.forEach((column, stage) => column.classList.toggle("away", stage > view.at + 1e-6));
    find(".answers").classList.toggle("away", ready && view.at < last());
    for (const link of find(".names").children) link.classList.toggle("here", Number(link.dataset.stage) === Math.min(base, last()));
    const move = share > 0 && !final && ready && base >= 1;
    moving.classList.toggle("away", !move);
    if (move) {
      dress(base);
      const x = stopAt(base) + (stopAt(base + 1) - stopAt(base)) * eased, up = place.row * 0.31;
      movers.forEach((mover, i) => { mover.style.transform = `translate(${x}px, ${place.y(i) - up}px)`; });
    }
    columns[1].style.transform = base === 0 && share > 0 ? `translateX(${(eased - 1) * place.letters}px)` : "";
    if (base === 0 && share > 0) columns[1].classList.remove("away");
  }
  function frame(now) {
    if (!view.playing && view.target === null) return;
    const goal = view.target ?? last();
    const by = still.matches ? 0 : (now - view.before) / MOVE;
    view.before = now;
    view.at = Math.min(goal, view.at + Math.max(0, Math.min(by, 0.2)));  // a frame may have begun before it was asked for
    tick();
    if (view.at >= goal) return rest();
    view.request = requestAnimationFrame(frame);
  }
  function run() {
    cancelAnimationFrame(view.request);
    view.before = performance.now();
    view.request = requestAnimationFrame(frame);
    buttons();
  }
  function rest() {
    const own = view.target !== null || view.asked;
    view.at = Math.round(view.at);
    view.playing = false;
    view.target = null;
    view.asked = false;
    tick();
    buttons();
    if (own) tell();
    speak();
  }
  function halt() {
    cancelAnimationFrame(view.request);
    view.playing = false;
    view.target = null;
  }
  function goTo(stage) {
    const wanted = Math.max(0, Math.min(last(), stage)), before = view.at;
    halt();
    if (!still.matches && wanted > before && wanted - before <= 1) {
      view.target = wanted;
      run();
    } else {
      view.at = wanted;
      view.target = wanted;
      rest();
    }
  }
  const here = () => view.target ?? view.at;  // the target while moving, so that two quick presses are two steps
  const back = () => goTo(Math.ceil(here()) - 1), on = () => goTo(Math.floor(here()) + 1);
  function play() {
    if (!ready) return;
    if (view.playing) {
      halt();
      view.target = view.at = Math.min(last(), Math.ceil(view.at));
      return rest();
    }
    halt();
    if (view.at >= last()) view.at = 0;
    view.playing = view.asked = true;
    if (still.matches) stepThrough();
    else run();
  }
  function stepThrough() {  // with reduced motion: from one static picture to the next
    buttons();
    clearInterval(view.timer);
    view.timer = setInterval(() => {
      if (!view.playing) return clearInterval(view.timer);
      view.at = Math.min(last(), Math.floor(view.at) + 1);
      tick();
      if (view.at >= last()) { clearInterval(view.timer); rest(); }
    }, 2 * MOVE);
  }
  function tell() {  // notify the server when the user has stopped
    clearTimeout(view.later);
    view.later = setTimeout(() => {
      view.toldModel = view.model;
      const stage = view.at >= last() ? 0 : view.at + 1;
      view.told.push(stage);
      setStateValue("told", { model: model().name, stage, token: view.focus === null ? 0 : model().rows[focus()] });
    }, 300);
  }
  const go = (where) => setTriggerValue("go", { model: model().name, ...where });

  // --- texts and tooltips
  const nameOf = (stage) => [words.letters, words.pieces, words.vectors][stage]
    ?? (stage >= last() ? words.answers : fill(words.block, { n: stage - 2 }));
  function speak(extra) {
    const token = model().tokens[focus()];
    const stage = Math.floor(view.at), where = fill(words.stage, { n: stage + 1, all: last() + 1, name: nameOf(stage) });
    const kind = stage >= last() ? 4 : Math.min(stage, 3);
    said.textContent = extra ?? joined(where, ready ? fill(words.happens[kind], { token }) : words.loading);
  }
  function under(x, y) {
    const m = model(), i = Math.floor((y - place.top) / place.row), { start, block, letters, pieces } = place;
    const row = i >= 0 && i < place.T ? i : null;
    const reached = (stage) => stage <= view.at;
    if (x < letters && row !== null) return { to: "letters", row };
    if (x < letters + pieces && row !== null && reached(1)) return { to: "pieces", row };
    if (!ready) return null;
    if (x < start && row !== null && reached(2)) {
      const third = Math.floor(((y - place.top) / place.row - i) * 3);
      return { to: "vectors", row, part: x >= place.sum - 2 ? 3 : third };
    }
    const layer = Math.floor((x - start) / block);
    if (layer < 0 || layer >= m.layers || !reached(layer + 3)) return null;
    if (y < place.top) {
      for (let head = 0; head < m.heads; head++) {
        const [left, above] = place.headAt(layer, head);
        if (x >= left - 1 && x <= left + place.square + 1 && y >= above - 1 && y <= above + place.square + 1)
          return { to: "heads", layer, head };
      }
      return null;
    }
    if (row === null) return null;
    if (x >= place.stripAt(layer) - 2) return { to: "network", kind: "state", layer, row };
    if (x >= (place.lineEnd(layer) * 2 + place.stripAt(layer)) / 3 + 1) return { to: "network", kind: "network", layer, row };
    if (x >= place.lineEnd(layer) - place.mark - 2) return { to: "heads", kind: "adds", layer, row };
    return { to: "heads", kind: "look", layer, column: row };
  }
  function describe(at) {
    const m = model(), token = m.tokens[at.row], from = m.tokens[focus()];
    const common = { row: m.rows[at.row], count: m.count, token, hidden: m.hidden, drawn: DRAWN, layer: at.layer + 1,
      heads: m.heads };
    if (at.to === "letters" || at.to === "pieces") {
      const blank = token === "[MASK]" && at.row === (m.blank ?? m.tokens.indexOf("[MASK]"));
      const kind = blank ? words.blankpiece : m.added[at.row] ? words.frame : words.piece;
      return fill(kind, { ...common, letters: m.letters[at.row], word: m.word, id: m.ids[at.row].toLocaleString("en"),
        vocab: m.vocab.toLocaleString("en") });
    }
    if (at.to === "vectors")
      return fill(words[`part${at.part}`], { ...common, length: number(m.lengths[at.part][at.row]),
        values: values(m.parts[at.part][at.row]), side: m.segments[at.row] ? words.b : words.a });
    if (at.head !== undefined) {
      const most = mostOf(at.layer, at.head, focus());
      const told = fill(words.head, { ...common, head: at.head + 1, from, to: m.tokens[most],
        share: percent(weightOf(at.layer, at.head, focus(), most)) });
      return m.count > m.tokens.length ? joined(told, words.among) : told;
    }
    if (at.kind === "look") {
      const head = strongest(at.layer, focus(), at.column);
      return fill(words.look, { ...common, from, to: m.tokens[at.column], head: head + 1,
        share: percent(weightOf(at.layer, null, focus(), at.column)), most: percent(weightOf(at.layer, head, focus(), at.column)) });
    }
    if (at.kind === "state") return fill(words.state, { ...common, values: values(m.states[at.layer + 1][at.row]) });
    return fill(at.kind === "adds" ? words.heads : words.network,
      { ...common, ratio: number(m.adds[at.layer][at.kind === "adds" ? 0 : 1][at.row]) });
  }
  let touched = null;
  function point(event) {
    if (!place) return null;
    const box = svg.getBoundingClientRect(), scale = place.W / box.width;
    const x = (event.clientX - box.left) * scale, y = (event.clientY - box.top) * scale, at = under(x, y);
    svg.style.cursor = at ? "pointer" : "";
    if (!at) {
      tip.hidden = true;
      touched = null;
      if (view.head) { view.head = null; look(); }
      return null;
    }
    if (at.to === "letters" || at.to === "pieces") view.focus = at.row;  // told with the next step: a hover is no history
    view.head = at.head === undefined ? null : { layer: at.layer, head: at.head };
    look();
    tip.textContent = describe(at);
    tip.hidden = false;
    const left = Math.max(4, Math.min(x + 14, place.W - tip.offsetWidth - 4));
    tip.style.transform = `translate(${left}px, ${y + 18 + tip.offsetHeight > place.height ? y - tip.offsetHeight - 8 : y + 18}px)`;
    return at;
  }
  function open(at) {
    const m = model();
    const row = at.row ?? focus();
    const second = (at.to === "letters" || at.to === "pieces") && m.segments[row] === 1;
    const head = at.head ?? (at.kind === "look" ? strongest(at.layer, focus(), at.column) : undefined);
    go({ to: at.to, layer: at.layer, head, row: m.rows[row] - 1, second });
  }
  svg.onpointermove = point;
  svg.onpointerleave = () => {
    tip.hidden = true;
    touched = null;
    if (view.head) { view.head = null; look(); }
    speak();
  };
  svg.onclick = (event) => {
    const at = point(event), name = JSON.stringify(at);
    if (!at) return;
    if (event.pointerType === "touch" && touched !== name) {  // touch has no hover: the first touch shows the tooltip
      touched = name;
      return;
    }
    open(at);
  };

  // --- controls
  function choose(index) {
    if (index >= data.models.length || index === view.model) return;
    const final = view.at >= last();
    halt();
    view.model = index;
    view.head = null;
    view.at = final ? last() : Math.min(Math.round(view.at), last());
    show();
    tell();
  }
  // --- what circles, squares and colours are
  const sample = (css, ...colours) => {
    const mark = tag("i", css);
    if (colours.length) mark.style.background = `linear-gradient(90deg, ${colours.join()})`;
    return mark;
  };
  const { mask, segments: [a, b] } = data.hues;
  const marks = { segments: sample("bars", `${a} 30%`, "transparent 30% 70%", `${b} 70%`), mask: sample("mask", `${mask}4d`, `${mask}4d`),
    strip: sample("strip", signed(-1), signed(0), signed(1)), heads: sample("square", bright(0), bright(0.5), bright(1)),
    line: sample("thick"), circle: sample("circle"), box: sample("square grey") };
  marks.mask.style.borderColor = mask;
  find(".legend").replaceChildren(...Object.entries(words.legend).map(([name, title]) => {
    const entry = tag("span");
    entry.append(marks[name], title);
    return entry;
  }));

  const models = find(".models");
  models.setAttribute("aria-label", words.models);
  models.replaceChildren(...data.models.map((one, index) => {
    const button = tag("button", "", one.title);
    button.type = "button";
    button.setAttribute("role", "radio");
    button.title = one.about;
    button.onclick = () => choose(index);
    return button;
  }));
  const [before, toggle, after] = [".back", ".play", ".on"].map(find);
  before.textContent = "◀";
  after.textContent = "▶︎|";
  before.setAttribute("aria-label", words.back);
  after.setAttribute("aria-label", words.on);
  before.onclick = back;
  toggle.onclick = play;
  after.onclick = on;
  function buttons() {
    toggle.textContent = view.playing ? words.pause : words.play;
    toggle.disabled = !ready;
    before.disabled = view.at <= 0;
    after.disabled = view.at >= last() || !ready;
    [...models.children].forEach((button, index) => button.setAttribute("aria-checked", index === view.model));
  }
  const turn = (by) => {
    view.focus = (focus() + by + model().tokens.length) % model().tokens.length;
    look();
    speak();
    tell();
  };
  root.onkeydown = (event) => {
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    const keys = { ArrowRight: on, ArrowLeft: back, ArrowDown: () => turn(1), ArrowUp: () => turn(-1),
      Home: () => goTo(0), End: () => goTo(last()) };
    if (event.target === svg) {
      keys[" "] = play;
      const stage = Math.round(view.at);
      keys.Enter = () => open(stage < 2 ? { to: ["letters", "pieces"][stage] } : stage === 2 ? { to: "vectors" }
        : stage >= last() ? { to: "blank" } : { to: "network", layer: stage - 3 });
    }
    const act = keys[event.key] ?? (/^[1-9]$/.test(event.key) ? () => choose(Number(event.key) - 1) : null);
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };

  function show() {
    draw();
    buttons();
    speak();
  }
  const underway = view.target !== null && view.target !== undefined;
  if (!view.playing) view.at = Math.round(here());
  view.target = null;
  show();
  if (underway) tell();  // new data from the server has interrupted a step
  if (view.playing && !still.matches) run();
  let width = scene.clientWidth;
  const watcher = new ResizeObserver(() => {
    if (scene.clientWidth === width && place) return;
    width = scene.clientWidth;
    draw();
  });
  watcher.observe(scene);
  view.stop = () => {
    cancelAnimationFrame(view.request);
    watcher.disconnect();
  };
  return view.stop;
}
