// A text read epoch after epoch: what is chosen falls, and what the model reads drops in. Texts are set as text only.
export default function (component) {
  const { data, parentElement } = component;
  const find = (name) => parentElement.querySelector(name);
  const root = find(".mb-falling"), row = find("ol"), said = find(".said");
  const [before, play, after] = parentElement.querySelectorAll("button");
  const view = (parentElement.mbView ??= {});
  const last = data.epochs.length - 1;
  const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
  const make = (name, text = "", css = "") => {
    const node = document.createElement(name);
    node.textContent = text;
    node.className = css;
    return node;
  };

  for (const [fate, colour] of Object.entries(data.colours)) root.style.setProperty(`--${fate}`, colour);
  row.setAttribute("aria-label", data.words.row);
  before.textContent = "‹ " + data.words.before;
  after.textContent = data.words.after + " ›";

  const cells = data.tokens.map((token, place) => {
    const cell = make("li");
    const widest = Math.max(token.length, ...data.epochs.map((epoch) => epoch.read[place]?.length ?? 0));
    cell.style.setProperty("--wide", widest);
    cell.append(make("bdi"), make("small"), make("small"), make("span", "", "times"), make("span", token, "gone"));
    cell.lastChild.setAttribute("aria-hidden", "true");
    cell.children[3].setAttribute("aria-hidden", "true");
    return cell;
  });
  row.replaceChildren(...cells);

  const fresh = view.identity !== data.identity;
  if (fresh) halt();
  view.identity = data.identity;
  view.at = fresh ? 0 : Math.min(view.at, last);

  function draw(falls) {
    const epoch = data.epochs[view.at];
    cells.forEach((cell, place) => {
      const fate = epoch.fates[place], [now, under, loss, times, gone] = cell.children;
      cell.className = data.special[place] ? "special" : fate;
      now.textContent = fate === "untouched" ? data.tokens[place] : epoch.read[place];
      under.textContent = epoch.under[place];
      loss.textContent = epoch.losses[place];
      times.textContent = "●".repeat(data.epochs.slice(0, view.at + 1).filter((one) => one.fates[place] !== "untouched").length);
      if (!falls || fate === "untouched" || calm()) return;
      const delay = Math.min(place * 25, 500);
      if (fate !== "kept") {  // the word falls out of the row, and what is read instead drops in
        gone.animate([{ transform: "none", opacity: 1 }, { transform: "translateY(2.6rem) rotate(9deg)", opacity: 0 }],
          { duration: 650, delay, easing: "cubic-bezier(0.5, 0, 0.9, 0.5)", fill: "backwards" });
        now.animate([{ transform: "translateY(-1.4rem)", opacity: 0 }, { transform: "none", opacity: 1 }],
          { duration: 380, delay: delay + 450, easing: "ease-out", fill: "backwards" });
      } else {
        now.animate([{ transform: "none" }, { transform: "translateY(0.35rem)" }, { transform: "none" }], { duration: 500, delay });
      }
      for (const told of [under, loss])
        told.animate([{ opacity: 0 }, { opacity: 0.85 }], { duration: 300, delay: delay + 700, fill: "backwards" });
    });
    said.textContent = epoch.said;
    before.disabled = view.at === 0;
    after.disabled = view.at === last;
    play.textContent = view.playing ? data.words.pause : data.words.play;
    play.disabled = last === 0;
  }

  function go(epoch) {
    view.at = Math.max(0, Math.min(last, epoch));
    draw(true);
  }

  function halt() {
    clearInterval(view.playing);
    view.playing = null;
  }

  before.onclick = () => { halt(); go(view.at - 1); };
  after.onclick = () => { halt(); go(view.at + 1); };
  play.onclick = () => {
    if (view.playing) { halt(); return draw(false); }
    if (view.at === last) view.at = -1;
    view.playing = setInterval(() => {
      if (view.at === last) { halt(); return draw(false); }
      view.step(view.at + 1);
    }, 2200);
    go(view.at + 1);
  };
  root.onkeydown = (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by) { event.preventDefault(); halt(); go(view.at + by); }
  };
  view.step = go;  // the one of the newest data
  draw(fresh);
}
