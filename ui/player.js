// What drives a moving picture: play and pause, one step on or back, a slider, the arrow keys and the space bar. Where
// motion is unwelcome nothing begins by itself. A picture's own module stands below this text.
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// root: the picture's element · identity: changes when there is another film to play · last: the number of its last
// step · at: the step it begins with · words: of the buttons · delay: milliseconds to stay at a step · show(step, by):
// draws it, by: steps since the last drawing, 0 for none · told: called when the reader has come to rest at a step
function player({ root, identity, last, at, words, delay, show, told = () => {}, auto = false }) {
  const state = (root.mbPlayer ??= { identity: null, at: 0, timer: null });
  const way = root.querySelector(".way");
  if (!way.firstChild) {
    for (const name of ["play", "back", "on"]) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = name;
      way.append(button);
    }
    const slider = document.createElement("input");
    slider.type = "range";
    slider.min = 0;
    way.append(slider, Object.assign(document.createElement("span"), { className: "count" }));
  }
  const [play, back, on, slider, count] = way.children;
  [back.textContent, on.textContent] = ["‹", "›"];
  for (const [button, name] of [[back, words.back], [on, words.on]]) button.setAttribute("aria-label", name);
  slider.setAttribute("aria-label", words.slider);
  slider.max = last;

  const go = (step, by = 0) => {
    state.at = Math.max(0, Math.min(last, step));
    slider.value = state.at;
    const said = words.count.replace("{n}", state.at).replace("{last}", last);
    count.textContent = said;
    slider.setAttribute("aria-valuetext", said);
    back.disabled = state.at === 0;
    on.disabled = state.at === last;
    show(state.at, by);
  };
  const halt = () => {
    clearTimeout(state.timer);
    state.timer = null;
    play.textContent = words.play;
  };
  const rest = () => {
    clearTimeout(state.later);
    state.later = setTimeout(() => told(state.at), 300);
  };
  const by = (steps) => { halt(); go(state.at + steps, steps); rest(); };
  const run = () => {
    play.textContent = words.pause;
    state.timer = setTimeout(() => {
      if (!root.isConnected) return;
      if (state.at >= last) { halt(); return rest(); }
      state.go(state.at + 1, 1);
      state.run();
    }, state.at ? delay(state.at) : 500);
  };
  state.go = go;  // those of the newest data: a film goes on while the page is drawn anew
  state.run = run;

  play.onclick = () => {
    if (state.timer) { halt(); return rest(); }
    if (state.at === last) go(0);
    run();
  };
  back.onclick = () => by(-1);
  on.onclick = () => by(1);
  slider.oninput = () => { const from = state.at; halt(); go(Number(slider.value), Number(slider.value) - from); rest(); };
  root.onkeydown = (event) => {
    const steps = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!steps && event.key !== " ") return;
    if (!steps && event.target.tagName === "BUTTON") return;  // the space bar presses it
    event.preventDefault();
    event.stopPropagation();  // nor does a stepper of the page move
    if (steps) by(steps); else play.click();
  };

  if (state.identity !== identity) {
    state.identity = identity;
    halt();
    go(at);
    if (auto && !still()) run();
  } else {
    go(state.at);
    if (!state.timer) halt();
  }
  return { go: (step) => { halt(); go(step); }, replay: () => { halt(); go(0); if (still()) go(last); else run(); } };
}
