// A mask, a row and a column a token, and beside it the text that is written under it. Texts are set as text, never as
// markup.
const NAMESPACE = "http://www.w3.org/2000/svg";
const make = (name, attributes = {}, words) => {
  const node = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (words !== undefined) node.textContent = words;
  return node;
};
const percent = (share) => (share >= 0.0995 ? `${Math.round(100 * share)} %` : `${(100 * share).toFixed(1)} %`);
const sizeOf = (node) => { const { width, height } = node.getBoundingClientRect(); return `${width} ${height}`; };

export default function (component) {
  const { data, parentElement } = component;
  const root = parentElement.querySelector(".moving"), svg = root.querySelector("svg"), said = root.querySelector(".said");
  const { tokens, source, mask, steps, names, hues } = data, last = steps.length - 1, count = tokens.length;
  const view = (root.mbView ??= {});
  const writes = last > 0;
  view.watcher?.disconnect();

  function draw(step, moves) {
    const { width, height } = svg.getBoundingClientRect();
    if (!width) return;
    view.drawn = sizeOf(svg);
    const size = parseFloat(getComputedStyle(root).fontSize), narrow = width < 34 * size;
    const now = steps[step], done = steps.slice(1, step + 1).filter(({ row }) => row !== undefined);
    const shown = !writes || step === last ? count : source + done.length;  // rows that are there
    const parts = [], add = (name, attributes, words) => { const node = make(name, attributes, words); parts.push(node); return node; };
    const put = (words, x, y, css = "", anchor = "start", type = size, room = Infinity) => {
      const most = Math.max(2, Math.floor(room / (0.56 * type)));
      const node = add("text", { x, y, class: css, "text-anchor": anchor, "dominant-baseline": "central" },
        words.length > most ? `${words.slice(0, most - 1)}…` : words);
      node.style.fontSize = `${type}px`;
      if (words.length > most) node.append(make("title", {}, words));
      return node;
    };

    // the mask
    const labels = (narrow ? 5.2 : 6.4) * size, tall = narrow ? 0.62 * height : height;
    const line = Math.min((tall - 4) / count, 2 * size);  // height of a row; a phone has no room for as wide a column
    const cell = Math.min(line, ((narrow ? width : 0.6 * width) - labels) / count);
    const left = labels, type = Math.max(12, Math.min(size, 0.85 * line));
    tokens.forEach((token, row) => {
      const y = 2 + (row + 0.5) * line, there = row < shown, current = now.row !== undefined && row === source + now.row;
      const css = `${current ? "now" : ""} ${there ? "" : "later"}`;
      put(there || row < source ? token : "·", left - 6, y, css, "end", type, labels - 10);
      for (let column = 0; column < count; column++) {
        const x = left + column * cell, sees = mask[row][column] === "1" && there;
        const own = column >= source, pad = Math.max(0.5, 0.06 * cell);
        if (!sees) { add("rect", { x: x + pad, y: y - line / 2 + pad, width: cell - 2 * pad, height: line - 2 * pad, class: "cell" }); continue; }
        const middle = x + cell / 2, half = cell / 2 - pad, rise = line / 2 - pad;
        const mark = own
          ? add("path", { d: `M${middle},${y - rise}L${middle + half},${y}L${middle},${y + rise}L${middle - half},${y}Z`, fill: hues.own })
          : add("rect", { x: x + pad, y: y - rise, width: 2 * half, height: 2 * rise, fill: hues.read });
        if (current && moves) mark.setAttribute("class", "comes");
        mark.append(make("title", {}, `${token} → ${tokens[column]}`));
      }
      if (current) add("rect", { x: left - 1, y: y - line / 2 - 1, width: count * cell + 2, height: line + 2, fill: "none", stroke: hues.mask, "stroke-width": 2.5, rx: 3 });
    });
    if (count > source) {
      const at = source * cell;
      add("path", { d: `M${left + at},2V${2 + count * line}M${left},${2 + source * line}H${left + count * cell}`, class: "border" });
    }

    // what is written
    const x = narrow ? 4 : left + count * cell + 2 * size, end = width - 4, high = 1.9 * size;
    let y = narrow ? count * line + 1.6 * size : 0.8 * size;
    if (writes) {
      put(names.text, x, y, "head", "start", size, end - x);
      y += high;
      let at = x;
      done.forEach((one) => {
        const wide = Math.max(0.58 * size * one.word.length, 2.6 * size) + 0.8 * size;
        if (at + wide > end && at > x) { at = x; y += 2.6 * size; }
        const css = `${one === now ? "now" : ""} ${one === now && moves ? "comes" : ""}`;
        put(one.word, at + wide / 2, y, css, "middle", size, wide);
        if (one.p !== null) put(percent(one.p), at + wide / 2, y + 1.1 * size, css, "middle", 0.85 * size, wide + size);
        if (one === now) add("rect", { x: at + 1, y: y - 0.8 * size, width: wide - 2, height: 2.6 * size, rx: 6, fill: "none", stroke: hues.mask, "stroke-width": 2.5 });
        at += wide;
      });
      y += 3.4 * size;
      if (now.guesses?.length && y + size < height) {
        put(names.guesses, x, y, "head", "start", size, end - x);
        const wide = Math.min(6.5 * size, (end - x) / 2), room = end - x - wide - 4.5 * size;
        now.guesses.forEach(([word, p]) => {
          y += 1.6 * size;
          if (y + size / 2 > height) return;
          put(word, x + wide - 8, y, word === now.word ? "now" : "", "end", size, wide - 10);
          add("rect", { x: x + wide, y: y - 0.5 * size, width: Math.max(1, room * p), height: size, fill: hues.mask, class: "bar" });
          put(percent(p), x + wide + Math.max(1, room * p) + 6, y, word === now.word ? "now" : "");
        });
      }
    }
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
    root, identity: data.identity, last, at: still() ? last : 0, words: data.controls, show, delay: () => 1500, auto: true,
  });
  view.watcher = new ResizeObserver(() => { if (view.drawn !== sizeOf(svg)) draw(view.step, false); });
  view.watcher.observe(svg);
  return () => view.watcher.disconnect();
}
