// WordPiece's window over a word: as wide as what is left, one letter narrower with every try, until a piece is found.
// Texts are set as text, never as markup.
const element = (name, { text, ...attributes } = {}) => {
  const node = document.createElement(name);
  if (text !== undefined) node.textContent = text;
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
};

// All tries of a word in order: {from, to, id}, id null where nothing is found. The vocabulary's answers are the
// server's: found, the pieces as [from, to, id]; stuck, where not even one letter is there, else null.
const triesOf = ({ letters, found, stuck }) => {
  const tries = [];
  for (const [from, to, id] of found)
    for (let end = letters.length; end >= to; end--) tries.push({ from, to: end, id: end === to ? id : null });
  if (stuck !== null) for (let end = letters.length; end > stuck; end--) tries.push({ from: stuck, to: end, id: null });
  return tries;
};

export default function (component) {
  const { data, parentElement, setStateValue } = component;
  const root = parentElement.querySelector(".moving"), find = (name) => root.querySelector(name);
  const view = (root.mbView ??= { word: data.word, told: data.word, identity: data.identity });
  if (data.word !== view.told || data.identity !== view.identity) view.word = view.told = data.word;  // the page's word
  view.identity = data.identity;
  const word = data.words[view.word], tries = triesOf(word), unknown = word.unknown !== "";
  const last = tries.length + (unknown ? 1 : 0);  // at the end an unknown word becomes [UNK]

  find(".words").replaceChildren(...data.words.map(({ letters }, number) => {
    const button = element("button", { type: "button", text: letters.join(""), "aria-pressed": number === view.word });
    button.onclick = () => {
      if (number === view.word) return film.replay();
      view.word = view.told = number;
      setStateValue("word", number);
    };
    return button;
  }));
  find(".words").hidden = data.words.length < 2;
  find(".moving > .band").setAttribute("dir", word.dir);
  const letters = find(".letters");
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  const cell = Math.max(0.85, Math.min(3.2, Math.min(44, letters.parentElement.clientWidth / rem || 44) / (word.letters.length + 1)));
  letters.style.setProperty("--cell", `${cell}rem`);
  const frame = element("div", { class: "frame" });
  frame.append(element("b"));
  letters.replaceChildren(...word.letters.map((text) => element("span", { text })), frame);

  function chip(text, id, kind, now) {
    const item = element("li", { class: `mono ${kind}${now ? " now" : ""}` });
    item.append(element("bdi", { text }), element("small", { text: id }));
    return item;
  }

  function keepInView({ from, to }) {  // of a word wider than the page; the page itself stays where it is
    const band = find(".band"), size = letters.clientWidth / word.letters.length;
    const [low, high] = [from * size, to * size + 12];
    if (word.dir === "rtl") band.scrollLeft = Math.min(-low + size, band.clientWidth - high);
    else if (high > band.scrollLeft + band.clientWidth || low < band.scrollLeft) band.scrollLeft = high - band.clientWidth;
  }

  function show(step, by) {
    const done = tries.slice(0, step), now = done.at(-1), finished = step === last;
    const found = done.filter(({ id }) => id !== null);
    const thrown = unknown && finished;
    [...letters.children].slice(0, -1).forEach((letter, number) => {
      letter.classList.toggle("taken", !thrown && found.some(({ from, to }) => from <= number && number < to));
      letter.classList.toggle("thrown", thrown);
    });
    const place = thrown ? { from: 0, to: word.letters.length, id: null } : now;
    frame.hidden = !place;
    frame.className = `frame ${thrown ? "unknown" : now?.id != null ? "yes" : ""}`;
    if (place) {
      frame.style.setProperty("--from", place.from);
      frame.style.setProperty("--size", place.to - place.from);
      const piece = (place.from ? "##" : "") + word.letters.slice(place.from, place.to).join("");
      frame.firstChild.textContent = thrown ? "[UNK]"
        : (now.id === null ? data.texts.no : data.texts.yes.replace("{id}", now.id.toLocaleString("en"))).replace("{piece}", piece);
      if (by) keepInView(place);
    }
    const chips = thrown ? [{ text: "[UNK]", id: data.unk, kind: "unk" }] : found.map(({ from, to, id }) => ({
      text: (from ? "##" : "") + word.letters.slice(from, to).join(""), id, kind: from ? "piece" : "",
    }));
    const box = find(".pieces");
    while (box.children.length > chips.length) box.lastChild.remove();
    chips.forEach(({ text, id, kind }, number) => {  // those that are there already do not fall again
      const old = box.children[number];
      if (old?.firstChild.textContent === text) return;
      old ? old.replaceWith(chip(text, id, kind)) : box.append(chip(text, id, kind));
    });
    find(".said").textContent = !step ? word.question : finished ? (thrown ? word.unknown : word.finding) : word.question;
  }

  find(".tokens").replaceChildren(
    ...data.tokens.map(([text, id, kind, of]) => chip(text, id, kind, of === view.word)),
    ...(data.more ? [element("li", { text: data.more })] : []));
  find(".tokens").hidden = !data.tokens.length;
  root.setAttribute("aria-label", data.alt);
  const film = player({
    root, identity: `${data.identity}/${view.word}`, last, at: data.still ? last : 0, words: data.controls, show,
    delay: () => Math.max(50, Math.min(430, 9000 / last)), auto: true,
  });
}
