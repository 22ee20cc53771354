// Points that move from layer to layer. Texts are set as textContent, never as markup.
const SVG = "http://www.w3.org/2000/svg";
const SHAPES = {
  circle: "M-1,0A1,1,0,1,1,1,0A1,1,0,1,1,-1,0Z",
  diamond: "M0,-1.3L1.3,0L0,1.3L-1.3,0Z",
  square: "M-.9,-.9H.9V.9H-.9Z",
  triangle: "M0,-1.25L1.2,.9H-1.2Z",
  cross: "M-.4,-1.2H.4V-.4H1.2V.4H.4V1.2H-.4V.4H-1.2V-.4H-.4Z",
  wedge: "M0,1.25L1.2,-.9H-1.2Z",
  star: "M0,-1.6L.4,-.5L1.5,-.5L.6,.2L.95,1.3L0,.65L-.95,1.3L-.6,.2L-1.5,-.5L-.4,-.5Z",
};
const make = (name, attributes = {}) => {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
};

const risen = new Set();  // identities of the points that have already been animated in this window
const STEP = 1100, RISE = 800;  // milliseconds a layer

export default function (component) {
  const { data, parentElement, setStateValue } = component;
  const find = (name) => parentElement.querySelector(name);
  const svg = find(".mb-moving > svg"), slider = find("input"), said = find(".said"), play = find("button");
  const view = (parentElement.mbView ??= { layer: data.layer, drawn: null, told: [], heard: data.layer });
  const last = data.layers.length - 1;
  // Use the layer the server sends, unless it only echoes, perhaps late, a layer reported from here.
  if (view.told.includes(data.layer)) view.told.splice(0, view.told.indexOf(data.layer) + 1);
  else if (data.layer !== view.heard) view.layer = data.layer;
  view.heard = data.layer;
  view.layer = Math.min(view.layer, last);

  const shape = (group) => SHAPES[data.groups[group].shape];
  const legend = find(".legend");
  legend.replaceChildren(...data.groups.map((group, number) => {
    const item = document.createElement("li"), mark = make("svg", { viewBox: "-1.7 -1.7 3.4 3.4", "aria-hidden": "true" });
    mark.append(make("path", { d: shape(number), fill: group.colour }));
    item.append(mark, document.createTextNode(group.name));
    return item;
  }));
  svg.setAttribute("aria-label", data.alt);
  slider.max = last;
  slider.setAttribute("aria-label", data.words.layer);
  find("datalist").replaceChildren(...data.layers.map((name, number) => new Option(name, number)));
  find(".names").replaceChildren(...data.layers.map((name, number) => {
    const item = document.createElement("span");
    item.textContent = name;
    item.style.setProperty("--share", last ? number / last : 0);
    item.onclick = () => go(number);
    return item;
  }));

  if (view.drawn !== data.identity) {  // other points: redraw everything without moving
    view.drawn = data.identity;
    svg.replaceChildren(make("g", { class: "lines" }), make("g", { class: "points" }));
    svg.lastChild.append(...data.titles.map((title, number) => {
      const point = make("g", { class: "point", "data-point": number }), mark = make("path", { d: shape(data.of[number]) });
      mark.setAttribute("fill", data.groups[data.of[number]].colour);
      point.append(make("circle", { class: "reach", r: 15 }), mark);
      if (data.texts[number]) {
        const text = make("text", { x: 11, y: 5 });
        text.textContent = data.texts[number];
        point.append(text);
      }
      return point;
    }));
  }
  const points = [...svg.lastChild.children];
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const rises = data.rise && data.layer > 0 && !calm && !risen.has(data.identity);
  risen.add(data.identity);
  points.forEach((point, number) => {
    point.classList.toggle("chosen", number === data.chosen);
    point.onpointerenter = () => tell(number);
    point.onpointerleave = () => tell(data.chosen);
    point.onclick = () => setStateValue("point", number);
  });

  function tell(number) {
    said.textContent = number === null ? data.words.hint : data.titles[number];
  }

  function place() {
    find(".finding").textContent = data.findings[view.layer] ?? "";
    const { width, height } = svg.getBoundingClientRect();
    if (!width) return;
    const size = Math.min(width / data.extent[0], height / data.extent[1]) * 0.46;
    const at = data.points[view.layer].map(([x, y]) => [width / 2 + x * size, height / 2 - y * size]);
    points.forEach((point, number) => {
      point.style.transform = `translate(${at[number][0]}px, ${at[number][1]}px)`;
    });
    const near = data.chosen === null ? [] : data.near[view.layer];
    const lines = svg.firstChild;
    while (lines.children.length > near.length) lines.lastChild.remove();
    while (lines.children.length < near.length) lines.append(make("path"));
    near.forEach((number, index) => {
      const [from, to] = [at[data.chosen], at[number]];
      lines.children[index].style.d = `path("M${from[0]},${from[1]}L${to[0]},${to[1]}")`;
    });
    slider.value = view.layer;
    slider.setAttribute("aria-valuetext", data.layers[view.layer]);
    [...find(".names").children].forEach((name, number) => name.classList.toggle("here", number === view.layer));
  }

  function go(layer) {
    view.layer = Math.max(0, Math.min(last, layer));
    place();
    clearTimeout(view.later);  // notify the server only when the user has stopped
    view.later = setTimeout(() => {
      if (view.layer !== (view.told.at(-1) ?? view.heard)) view.told.push(view.layer);
      setStateValue("layer", view.layer);
    }, 250);
  }

  function halt() {
    clearInterval(view.playing);
    view.playing = null;
    play.textContent = data.words.play;
  }

  slider.oninput = () => { halt(); go(Number(slider.value)); };
  svg.onkeydown = (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by) { event.preventDefault(); halt(); go(view.layer + by); }
  };
  if (!view.playing) play.textContent = data.words.play;
  play.onclick = () => {
    if (view.playing) return halt();
    if (view.layer === last) go(0);
    play.textContent = data.words.pause;
    view.playing = setInterval(() => {
      if (view.layer === last) return halt();
      view.step(view.layer + 1);
    }, STEP);
  };
  view.step = go;  // the function bound to the newest data
  tell(data.chosen);
  if (rises) {  // the server already has the final layer: do not report the layers in between
    halt();
    view.layer = 0;
    view.playing = setInterval(() => {
      if (view.layer >= view.heard) return halt();
      view.layer += 1;
      view.draw();
    }, RISE);
    play.textContent = data.words.pause;
  }
  view.draw = place;
  place();
  const watcher = new ResizeObserver(place);
  watcher.observe(svg);
  return () => watcher.disconnect();
}
