// Pieces fusing: the best pair of neighbours becomes one piece wherever it stands. Texts are set as text.
const CHANGING = 8, OFTEN = 24;  // words drawn that this merge changes, and of the most frequent ones
const FUSING = 480;  // milliseconds

const fused = (cut, [left, right, made]) => {
  const pieces = [];
  for (let at = 0; at < cut.length; at++) {
    if (cut[at] === left && cut[at + 1] === right) { pieces.push(made); at++; } else pieces.push(cut[at]);
  }
  return pieces;
};

export default function (component) {
  const { data, parentElement, setStateValue } = component;
  const root = parentElement.querySelector(".moving"), find = (name) => root.querySelector(name);
  const view = (root.mbView ??= { told: data.step, pages: 0 });
  const cutAt = (number, step) => data.merges.slice(0, step).reduce(fused, data.words[number]);

  function word(number, step, merge) {  // merge: about to fuse in it
    const box = document.createElement("span"), cut = cutAt(number, step), made = step ? data.merges[step - 1][2] : null;
    box.className = "word";
    cut.forEach((piece, at) => {
      const part = document.createElement("span");
      part.textContent = piece;
      const [left, right] = merge ?? [];
      const before = merge && cut[at] === left && cut[at + 1] === right && box.lastChild?.className !== "left";
      const after = box.lastChild?.className === "left";
      part.className = after ? "right" : before ? "left" : !merge && piece === made ? "fresh" : piece.startsWith("##") ? "piece" : "";
      box.append(part);
    });
    return box;
  }

  function draw(step, merge) {
    const [left, right, made, why, changed, count] = merge ?? data.merges[step - 1] ?? [];
    const said = find(".said"), small = document.createElement("small");
    said.textContent = left === undefined ? data.texts.start : `${left} + ${right} → ${made} `;
    small.textContent = left === undefined ? "" : `· ${why} · ${data.texts.changes.replace("{n}", count)}`;
    said.append(small);
    find(".changed").replaceChildren(...(changed ?? []).slice(0, CHANGING).map((number) => word(number, step, merge)));
    find(".often").replaceChildren(...data.often.slice(0, OFTEN).map((number) => word(number, step, merge)));
  }

  function show(step, by) {
    clearTimeout(root.mbFusing);
    root.classList.remove("fuse");
    if (by !== 1 || still()) return draw(step);
    draw(step - 1, data.merges[step - 1]);  // as they were, then closer, then one
    requestAnimationFrame(() => requestAnimationFrame(() => root.classList.add("fuse")));
    root.mbFusing = setTimeout(() => { root.classList.remove("fuse"); draw(step); }, FUSING);
  }

  find(".changed").previousElementSibling.textContent = data.texts.changed;
  find(".often").previousElementSibling.textContent = data.texts.often;
  root.setAttribute("aria-label", data.alt);
  if (data.step !== view.told) { view.told = data.step; view.pages++; }  // the page has gone to another step
  player({
    root, identity: `${data.identity}/${view.pages}`, last: data.merges.length, at: data.step, words: data.controls, show,
    delay: () => 1100, told: (step) => { view.told = step; setStateValue("step", step); },
  });
}
