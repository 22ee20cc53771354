// Figure 4 of the paper, on the reader's own text. Texts are set as text, never as markup.
const make = (name, kind = "", text = "") => {
  const node = document.createElement(name);
  if (kind) node.className = kind;
  if (text) node.textContent = text;
  return node;
};

export default function (component) {
  const { data, parentElement } = component;
  const find = (name) => parentElement.querySelector(name);
  const figure = find(".fig4"), grid = find(".grid"), said = find(".said");
  const view = (parentElement.mbView ??= { row: 0, step: null, drawn: null });
  const top = data.blocks + 3;  // steps: the tokens, each block, the vectors, the head, the answer
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  view.row = Math.min(data.shown ?? view.row, data.rows.length - 1);
  if (view.identity !== data.identity) view.row = data.shown ?? 0;

  function draw() {
    const columns = data.rows[view.row];
    const several = columns.some((column, index) => column.read && index);  // the head reads more than [CLS]
    grid.replaceChildren();
    grid.style.setProperty("--columns", columns.length);
    const put = (node, row, from, to, at) => {
      node.style.gridRow = row;
      node.style.gridColumn = `${from} / ${to}`;
      node.dataset.at = at;
      grid.append(node);
      return node;
    };
    // Rows from the top: answer, what is said of each token, formula, head, vectors, blocks, tokens.
    const answer = put(make("div", "answer"), 1, 1, columns.length + 1, top);
    answer.append(make("strong", "", data.answer.words));
    if (data.answer.bars.length) {
      const list = make("div", "bars");
      data.answer.bars.forEach((bar) => {
        const item = make(bar.row === null ? "div" : "button", bar.chosen ? "bar chosen" : "bar");
        const share = make("i");
        share.style.setProperty("--share", bar.share ?? 0);
        item.append(make("span", "name", bar.name), share, make("span", "value", bar.written));
        if (bar.row !== null) {
          item.type = "button";
          item.classList.toggle("open", bar.row === view.row);
          item.onclick = () => { view.row = bar.row; draw(); show(top); };
        }
        list.append(item);
      });
      answer.append(list);
    }
    columns.forEach((column, index) => {
      const at = index + 1;
      if (column.said) put(make("div", column.strong ? "tag strong" : "tag", column.said), 2, at, at + 1, top);
      const reads = column.read !== "";
      if (reads) put(make("div", data.trained ? "head" : "head random"), 4, at, at + 1, top - 1);
      if (!column.left_out) {
        const vector = make("div", reads ? "vector read" : "vector", column.at ? "T" : "C");
        if (column.at) vector.append(make("sub", "", String(column.at)));
        put(vector, 5, at, at + 1, top - 2);
      }
      const token = make("div", `token segment-${column.segment ? "b" : "a"}`);
      const text = make("bdi", "", column.text);
      if (column.left_out) token.classList.add("gap");
      token.append(text);
      put(token, 6 + data.blocks, at, at + 1, 0);
    });
    for (let block = data.blocks; block >= 1; block -= 1) {
      put(make("div", "block", data.words.block.replace("{n}", block)), 5 + data.blocks - block + 1, 1, columns.length + 1, block);
    }
    const formula = put(make("div", data.trained ? "formula" : "formula random", data.head), several ? 3 : 4, several ? 1 : 2,
      columns.length + 1, top - 1);
    formula.style.setProperty("justify-self", several ? "center" : "start");
    said.textContent = data.state;
    figure.setAttribute("aria-label", data.alt);
  }

  function show(step) {
    view.step = Math.max(0, Math.min(top, step));
    [...grid.children].forEach((node) => node.classList.toggle("on", Number(node.dataset.at) <= view.step));
    find(".back").disabled = view.step === 0;
    find(".on-way").disabled = view.step === top;
  }

  function halt() {
    clearInterval(view.playing);
    view.playing = null;
    find(".play").textContent = data.words.play;
  }

  function play() {
    halt();
    show(0);
    find(".play").textContent = data.words.pause;
    view.playing = setInterval(() => {
      if (!figure.isConnected || view.step >= top) return halt();
      view.go(view.step + 1);
    }, 260);
  }

  const another = view.identity !== data.identity;
  view.identity = data.identity;
  view.go = (step) => show(step);  // the one of the newest data
  draw();
  if (another && !still) play();
  else show(view.playing ? view.step : another ? top : view.step);
  find(".play").textContent = view.playing ? data.words.pause : data.words.play;
  find(".play").onclick = () => (view.playing ? halt() : play());
  find(".back").onclick = () => { halt(); show(view.step - 1); };
  find(".on-way").onclick = () => { halt(); show(view.step + 1); };
  find(".back").setAttribute("aria-label", data.words.back);
  find(".on-way").setAttribute("aria-label", data.words.next);
  figure.onkeydown = (event) => {
    const by = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    halt();
    show(view.step + by);
  };
}
