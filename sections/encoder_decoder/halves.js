// Encoder and decoder drawn whole: a row a word, what is read at the left, what is written at the right,
// cross-attention between them. Texts are set as text, never as markup.
const NAMESPACE = "http://www.w3.org/2000/svg";
const make = (name, attributes = {}, words) => {
  const node = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (words !== undefined) node.textContent = words;
  return node;
};
const percent = (share) => `${Math.round(100 * share)}%`;
const sizeOf = (node) => { const { width, height } = node.getBoundingClientRect(); return `${width} ${height}`; };
const LEAST = 0.05;  // a smaller share is drawn but not written

export default function (component) {
  const { data, parentElement } = component;
  const root = parentElement.querySelector(".moving"), svg = root.querySelector("svg"), said = root.querySelector(".said");
  const { half, sources, reads, given, steps, rows, names, hues } = data, last = steps.length - 1;
  const view = (root.mbView ??= {});
  const reading = half !== "decoder", writing = half !== "encoder";
  view.watcher?.disconnect();

  function draw(step, moves) {
    const { width, height } = svg.getBoundingClientRect();
    if (!width) return;
    view.drawn = sizeOf(svg);
    const size = parseFloat(getComputedStyle(root).fontSize), narrow = width < 34 * size;
    const share = narrow ? [0.24, 0.17, 0.18, 0.17] : [0.16, 0.19, 0.24, 0.19];
    const [from, into, over, out] = share.reduce((all, part) => [...all, (all.at(-1) ?? 0) + part * width], []);
    const head = 2.7 * size, high = Math.min(2.6 * size, (height - head - 6) / rows);
    const y = (row) => head + (row + 0.5) * high, type = Math.max(13, Math.min(size, 0.74 * high));
    const foot = head + rows * high;
    const now = steps[step], done = [...given, ...steps.slice(1, step + 1).filter(({ row }) => row !== undefined)], whole = step === last;
    const parts = [];
    const add = (name, attributes, words) => { const node = make(name, attributes, words); parts.push(node); return node; };
    const shorten = (words, room) => {
      const most = Math.max(3, Math.floor(room / (0.56 * type)));
      return words.length > most ? `${words.slice(0, most - 1)}…` : words;
    };
    const put = (words, x, at, css, anchor = "start", room = Infinity) => {
      const node = add("text", { x, y: at, class: css, "text-anchor": anchor, "dominant-baseline": "central" }, shorten(words, room));
      node.style.fontSize = `${type}px`;
      return node;
    };
    const line = (path, hue, weight, width, told, flows) => {
      const node = add("path", { d: path, class: `look ${flows ? "flows" : ""}`, stroke: hue, "stroke-width": 0.8 + width * weight,
        "stroke-opacity": 0.18 + 0.75 * weight, ...(flows ? { pathLength: 1, "stroke-dasharray": 1 } : {}) });
      if (told) node.append(make("title", {}, told));
    };

    // the whole machine, what is lit in full
    const heading = (lines, middle, lit) => {
      lines.forEach((one, number) => {
        if (!one) return;
        const node = add("text", { x: middle, y: (0.75 + 1.15 * number) * size, class: lit && !number ? "name" : "", "text-anchor": "middle", "dominant-baseline": "central" }, one);
        node.style.fontSize = `${Math.max(13, (number ? 0.85 : 1) * size * (narrow ? 0.85 : 1))}px`;
      });
    };
    for (const [left, right, lit, [name, whose]] of [[from, into, reading, names.encoder], [over, out, writing, names.decoder]]) {
      add("rect", { x: left, y: head - 3, width: right - left, height: foot - head + 6, rx: 10, class: lit ? "box" : "box dark" });
      heading([name, whose], (left + right) / 2, lit);
    }
    const nodeE = into - 0.7 * size, nodeD = over + 0.9 * size, bend = (a, b, room) => Math.min(room, 0.7 * size + Math.abs(a - b) * high * 0.4);
    if (half === "both" && !narrow) heading(names.cross, (into + over) / 2, true);  // a phone has no room; the legend says it
    const top = { "text-anchor": "middle", y: 0.75 * size, "dominant-baseline": "central" };
    const label = (words, x) => { add("text", { ...top, x }, words).style.fontSize = `${Math.max(13, 0.85 * size)}px`; };
    if (reading) label(names.reads, from / 2);
    if (writing) label(names.writes, (out + width) / 2);
    else label(names.fills, (into + over) / 2);

    // the encoder: every word looks at every word
    if (reading) {
      const room = nodeE - from - 0.6 * size;
      const arc = (a, b) => { const x = nodeE - bend(a, b, room); return `M${nodeE},${y(a)}C${x},${y(a)},${x},${y(b)},${nodeE},${y(b)}`; };
      if (!now.looks)
        for (let a = 0; a < sources.length; a++)
          for (let b = 0; b < a; b++) {
            const weight = Math.max(reads[a][b], reads[b][a]);
            if (weight >= 0.02) line(arc(a, b), hues.own, weight, 6, `${sources[a]} → ${sources[b]}: ${percent(reads[a][b])} · ${sources[b]} → ${sources[a]}: ${percent(reads[b][a])}`);
          }
      else
        now.looks.forEach((weight, b) => {
          if (b !== now.row) line(arc(now.row, b), hues.own, weight, 9, `${percent(weight)} ← ${sources[b]}`, moves);
          if (weight >= LEAST && b !== now.row) put(percent(weight), from + 6, y(b), "share");
        });
      sources.forEach((word, row) => {
        const hidden = row === now.row && now.looks;
        const told = put(hidden ? "[MASK]" : word, from - 10, y(row), hidden ? "now" : "", "end", from - 14);
        told.append(make("title", {}, word));
        if (hidden) add("rect", { x: 2, y: y(row) - high / 2 + 1, width: from - 6, height: high - 2, rx: 6, fill: "none", stroke: hues.mask, "stroke-width": 2.5 });
        if (!now.looks && !narrow) add("path", { d: `M${from - 7},${y(row)}L${from},${y(row)}`, class: "way-in" });
        add("circle", { cx: nodeE, cy: y(row), r: 0.26 * size, class: `node ${hidden ? "on" : ""}` });
      });
    }

    // cross-attention: where the decoder looks for the word that it writes
    const across = (row, weights, flows, told) => weights.forEach((weight, source) => {
      const middle = (nodeE + nodeD) / 2;
      if (weight >= 0.02)
        line(`M${nodeE + 0.3 * size},${y(source)}C${middle},${y(source)},${middle},${y(row)},${nodeD - 0.3 * size},${y(row)}`,
          hues.cross, weight, 8, `${sources[source]}: ${percent(weight)}`, flows);
      if (told && weight >= LEAST) put(percent(weight), nodeE + 0.75 * size, y(source), "share");
    });
    if (whole) done.forEach(({ row, cross }) => cross && across(row, cross, false, false));
    else if (now.cross) across(now.row, now.cross, moves, true);

    // the decoder: each word sees those before it, and goes back in
    if (writing) {
      const room = out - nodeD - 0.8 * size;
      if (now.own)
        now.own.forEach((weight, row) => {
          const x = nodeD + bend(row, now.row, room);
          if (row !== now.row && weight >= 0.02) line(`M${nodeD},${y(row)}C${x},${y(row)},${x},${y(now.row)},${nodeD},${y(now.row)}`, hues.own, weight, 8, percent(weight), moves);
        });
      if (now.row > 0) add("path", { d: `M${out + 6},${y(now.row - 1)}C${out - 0.6 * size},${y(now.row - 1)},${out - 0.6 * size},${y(now.row)},${nodeD + 0.35 * size},${y(now.row)}`, class: "back" });
      for (let row = 0; row < rows; row++) {
        const one = done.find((step) => step.row === row);
        if (one || row === 0) add("circle", { cx: nodeD, cy: y(row), r: 0.26 * size, class: `node ${one === now ? "on" : ""}` });
      }
    }
    const place = writing ? out + 10 : into + 10, end = writing ? width - 2 : over - 10;
    done.forEach((one) => {
      const mark = one.right == null ? "" : one.right ? "✓" : "✗";  // what a decoder alone writes is not right or wrong
      const current = one === now, beside = narrow ? mark : `${one.share} ${mark}`;
      const css = `${current ? "now" : ""} ${current && moves ? "comes" : ""}`, wide = (narrow ? 1.3 : 5.1) * type;
      put(one.word, place, y(one.row), css, "start", end - place - wide).append(make("title", {}, `${one.word}: ${one.share}`));
      put(beside, end, y(one.row), css, "end");
    });
    svg.replaceChildren(...parts);
  }

  function show(step, by) {
    view.step = step;
    said.textContent = steps[step].finding;
    draw(step, by === 1 && !still());
  }

  svg.setAttribute("aria-label", data.alt);
  root.setAttribute("aria-label", data.alt);
  player({
    root, identity: data.identity, last, at: still() ? last : 0, words: data.controls, show, delay: () => 1700, auto: true,
  });
  view.watcher = new ResizeObserver(() => { if (view.drawn !== sizeOf(svg)) draw(view.step, false); });
  view.watcher.observe(svg);
  return () => view.watcher.disconnect();
}
