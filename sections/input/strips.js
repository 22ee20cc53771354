// Vectors as strips that slide into their sum, one after another. Texts are set as text, never as markup.
const FLIGHT = 640;  // milliseconds

// stops: [[share, "#rrggbb"], …] from −limit to +limit
const colourOf = (value, limit, stops) => {
  const share = Math.max(0, Math.min(1, value / limit / 2 + 0.5));
  const next = Math.max(1, stops.findIndex(([at]) => at >= share));
  const [[low, one], [high, other]] = [stops[next - 1], stops[next]];
  const part = (share - low) / (high - low), channel = (text, at) => parseInt(text.slice(at, at + 2), 16);
  return `rgb(${[1, 3, 5].map((at) => Math.round(channel(one, at) * (1 - part) + channel(other, at) * part))})`;
};
const signed = (value) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(6);

export default function (component) {
  const { data, parentElement, setStateValue } = component;
  const root = parentElement.querySelector(".moving"), find = (name) => root.querySelector(name);
  const view = (root.mbView ??= { at: 0 });
  const last = data.parts.length + 1;  // one after another, then LayerNorm
  const sums = data.parts.reduce((all, { values }) => [...all, values.map((value, n) => value + (all.at(-1)?.[n] ?? 0))], []);

  find(".tokens").replaceChildren(...data.tokens.map((text, number) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.setAttribute("aria-pressed", number === data.token);
    button.onclick = () => number === data.token ? film.replay() : setStateValue("token", number);
    return button;
  }));

  const strips = find(".strips");
  const add = (name, kind) => {
    const [title, strip, length] = ["span", "div", "span"].map((tag) => document.createElement(tag));
    title.className = "name";
    title.textContent = name;
    strip.className = `strip ${kind}`;
    strip.append(...data.parts[0].values.map(() => document.createElement("i")));
    [...strip.children].forEach((cell, number) => { cell.onpointerenter = cell.onclick = () => point(number); });
    length.className = "length";
    strips.append(title, strip, length);
    return { strip, length };
  };
  strips.replaceChildren();
  strips.style.setProperty("--high", data.parts.length > 2 ? "min(2.2rem, 5vh)" : "2.7rem");
  const rows = data.parts.map(({ name }) => add(name, "part"));
  const sum = add(data.sum.name, "sum"), out = add(data.out.name, "out");
  const paint = ({ strip, length }, values, told, limit = data.limit) => {
    strip.classList.toggle("empty", !values);
    values?.forEach((value, number) => { strip.children[number].style.background = colourOf(value, limit, data.colours); });
    length.textContent = values && data.told ? told : "";
  };
  rows.forEach((row, number) => paint(row, data.parts[number].values, data.parts[number].length));

  function point(number) {
    view.at = number;
    const terms = data.parts.map(({ values }) => signed(values[number])).join("  ");
    find(".numbers").textContent = data.texts.numbers.replace("{n}", number + 1).replace("{terms}", terms)
      .replace("{sum}", signed(data.sum.values[number]));
    for (const { strip } of [...rows, sum, out])
      [...strip.children].forEach((cell, at) => cell.classList.toggle("at", at === number));
  }

  function settle(step) {
    const added = Math.min(step, data.parts.length);
    const whole = added === data.parts.length;
    paint(sum, added ? (whole ? data.sum.values : sums[added - 1]) : null, whole ? data.sum.length : "");
    paint(out, step === last ? data.out.values : null, data.out.length, data.out.limit);
    find(".said").textContent = data.texts.steps[step];
  }

  function show(step, by) {
    root.querySelectorAll(".flying").forEach((strip) => strip.remove());
    clearTimeout(root.mbFlight);
    if (by !== 1 || still()) return settle(step);
    settle(step - 1);
    const [from, to] = step === last ? [sum.strip, out.strip] : [rows[step - 1].strip, sum.strip];
    const copy = from.cloneNode(true);
    copy.classList.add("flying");
    copy.setAttribute("aria-hidden", "true");
    Object.assign(copy.style, { left: `${from.offsetLeft}px`, top: `${from.offsetTop}px`, width: `${from.offsetWidth}px` });
    strips.append(copy);
    requestAnimationFrame(() => requestAnimationFrame(() => {
      copy.style.transform = `translateY(${to.offsetTop - from.offsetTop}px)`;
    }));
    root.mbFlight = setTimeout(() => { copy.remove(); settle(step); }, FLIGHT);
  }

  root.setAttribute("aria-label", data.alt);
  const film = player({
    root, identity: data.identity, last, at: still() ? last : 0, words: data.controls, show, delay: () => 1500,
    auto: true,
  });
  point(Math.min(view.at, data.parts[0].values.length - 1));
}
