// Controls of an animated picture: play and pause, one step on or back, a slider, the arrow keys and the space bar. With
// prefers-reduced-motion nothing starts by itself. A picture's own module is appended to this file.
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// root: the picture's element · identity: changes when the animation does · last: index of its last step · at: initial
// step · words: labels of the buttons · delay: milliseconds per step · show(step, by): draws a step, by: difference to
// the step drawn before, 0 for none · told: called with the step at which the user has stopped
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
  way.style.display = last ? "" : "none";  // of one step there is nothing to play

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
  state.go = go;  // the functions bound to the newest data: the animation continues while the page reruns
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
    if (!steps && event.target.tagName === "BUTTON") return;  // the space bar presses the focused button
    event.preventDefault();
    event.stopPropagation();  // so that no stepper of the page moves
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
