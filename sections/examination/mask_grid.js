// A mask to draw: a button a cell. Click or space turns a cell, a row's or column's name turns all of it, arrows move.
export default function (component) {
  const { data, parentElement, setStateValue } = component;
  const root = parentElement.querySelector(".mb-grid");
  const view = (parentElement.mbGrid ??= { identity: null, open: new Set() });
  if (view.identity !== data.identity) {  // another mask; otherwise what is drawn here is newer than what the server knows
    view.identity = data.identity;
    view.open = new Set(data.open);
    view.at = [0, 0];
    build();
  }
  view.data = data;
  paint();

  function make(name, text) {
    const node = document.createElement(name);
    if (text !== undefined) node.textContent = text;
    return node;
  }

  function build() {
    const table = make("table"), head = make("thead"), body = make("tbody"), names = make("tr");
    table.setAttribute("aria-label", data.words.label);
    names.append(make("td"));
    data.columns.forEach((name, j) => names.append(header(name, "col", data.rows.map((_, i) => `${i}.${j}`))));
    head.append(names);
    data.rows.forEach((name, i) => {
      const row = make("tr");
      row.append(header(name, "row", data.columns.map((_, j) => `${i}.${j}`)));
      data.columns.forEach((_, j) => {
        const box = make("td"), cell = make("button");
        cell.type = "button";
        cell.dataset.cell = `${i}.${j}`;
        cell.onclick = () => turn([`${i}.${j}`]);
        cell.onfocus = () => { view.at = [i, j]; stops(); };
        cell.onkeydown = (event) => move(event, i, j);
        box.append(cell);
        row.append(box);
      });
      body.append(row);
    });
    table.append(head, body);
    root.replaceChildren(table, make("p"));
  }

  function header(name, scope, cells) {
    const box = make("th"), button = make("button", name);
    box.scope = scope;
    button.type = "button";
    button.tabIndex = -1;
    button.onclick = () => turn(cells);
    box.append(button);
    return box;
  }

  function cellAt(i, j) {
    return root.querySelector(`[data-cell="${i}.${j}"]`);
  }

  function move(event, i, j) {
    const by = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    cellAt(i + by[0], j + by[1])?.focus();
  }

  function stops() {  // the tab key enters the grid once
    root.querySelectorAll("[data-cell]").forEach((cell) => {
      cell.tabIndex = cell.dataset.cell === view.at.join(".") ? 0 : -1;
    });
  }

  function turn(cells) {
    const open = !cells.every((cell) => view.open.has(cell));
    cells.forEach((cell) => (open ? view.open.add(cell) : view.open.delete(cell)));
    paint();
    setStateValue("cells", [...view.open].join(" "));
  }

  function paint() {
    const { words, right, disabled } = view.data;
    const wanted = right && new Set(right);
    root.querySelectorAll("button").forEach((button) => {
      button.disabled = disabled;
      const key = button.dataset.cell;
      if (!key) return;
      const open = view.open.has(key), wrong = Boolean(wanted) && wanted.has(key) !== open;
      const [i, j] = key.split(".").map(Number);
      button.setAttribute("aria-pressed", open);
      button.classList.toggle("wrong", wrong);
      button.textContent = wrong ? (open ? "✕" : "○") : open ? "✓" : "";
      const state = wrong ? (open ? words.extra : words.missing) : open ? words.open : words.closed;
      button.setAttribute("aria-label", `${view.data.rows[i]} → ${view.data.columns[j]}: ${state}`);
    });
    root.querySelector("p").textContent = wanted ? words.marked : words.hint;
    stops();
  }
}
