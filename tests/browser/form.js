// What of a page is cut off, or printed over something else: a line for each. Texts in our own pictures, which stand in
// shadow roots, are looked at as well as plotly's and the page's own.
() => {
  const told = [], plain = (text) => text.trim().replace(/\s+/g, " ").slice(0, 60);
  function* every(root) {
    for (const one of root.querySelectorAll("*")) { yield one; if (one.shadowRoot) yield* every(one.shadowRoot); }
  }
  const above = (one) => one.parentElement ?? one.getRootNode().host;
  const speaks = (one) => [...one.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
  const apart = "style, script, title, option, datalist, .katex, [data-baseweb=select]";  // a formula lays its letters itself
  const boxOf = (one) => {
    if (one instanceof SVGElement) return one.getBoundingClientRect();
    const range = document.createRange();
    range.selectNodeContents(one);
    return range.getBoundingClientRect();
  };
  const leaves = (box, frame, wide, high) =>
    (wide && (box.right > frame.right + 2 || box.left < frame.left - 2)) ||
    (high && (box.bottom > frame.bottom + 4 || box.top < frame.top - 4));

  // The nearest thing around a text that hides what leaves it. What is scrolled is not cut, nor is what only ears get.
  function cut(text, box) {
    for (let around = text; around && !around.matches(".stMain"); around = above(around)) {
      const css = getComputedStyle(around), frame = around.getBoundingClientRect();
      const [wide, high] = [css.overflowX, css.overflowY].map((how) => how === "hidden" || how === "clip");
      if (frame.width <= 2 || [css.overflowX, css.overflowY].some((how) => how === "auto" || how === "scroll")) return false;
      if (wide || high) return leaves(box, frame, wide, high);
    }
    return false;
  }
  // Plotly hides what leaves the axes.
  function clipped(text, box) {
    const group = text.closest("[clip-path]"), name = group?.getAttribute("clip-path").match(/#([^'")]+)/)?.[1];
    const rect = name && document.getElementById(name)?.querySelector("rect");
    if (!rect) return false;
    const at = group.getScreenCTM(), [x, y, width, height] = ["x", "y", "width", "height"].map((side) => rect[side].baseVal.value);
    return leaves(box, new DOMRect(at.e + x, at.f + y, width, height), true, true);
  }

  const texts = [...every(document.querySelector(".stMain"))]
    .filter((one) => speaks(one) && !one.closest(apart) && one.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
    .map((one) => ({ one, box: boxOf(one) })).filter(({ box }) => box.width > 2 && box.height > 2);
  for (const { one, box } of texts)
    if (cut(one, box) || (one.tagName === "text" && clipped(one, box))) told.push(`cut: ${plain(one.textContent)}`);

  // Four corners of a text, which may stand aslant; how far two of them reach into each other along a line.
  const cornersOf = (one) => {
    const { x, y, width, height } = one.getBBox(), at = one.getScreenCTM();
    return [[x, y], [x + width, y], [x, y + height]].map(([left, top]) => new DOMPoint(left, top).matrixTransform(at));
  };
  const along = ([p, q, r], axis) => {
    const ends = [p, q, r, { x: q.x + r.x - p.x, y: q.y + r.y - p.y }].map((end) => end.x * axis.x + end.y * axis.y);
    return [Math.min(...ends), Math.max(...ends)];
  };
  const reach = (a, b, axis) => {
    const [from, to] = along(a, axis), [start, end] = along(b, axis);
    return Math.min(to, end) - Math.max(from, start);
  };
  const unit = (from, to) => {
    const size = Math.hypot(to.x - from.x, to.y - from.y) || 1;
    return { x: (to.x - from.x) / size, y: (to.y - from.y) / size, size };
  };
  const overprinted = (a, b) => {
    const least = Math.min(unit(a[0], a[2]).size, unit(b[0], b[2]).size);
    return [a, b].every((one) => reach(a, b, unit(one[0], one[1])) > 3 && reach(a, b, unit(one[0], one[2])) > 0.5 * least);
  };
  const drawn = texts.filter(({ one }) => one.tagName === "text")
    .map(({ one }) => ({ one, corners: cornersOf(one), figure: one.closest(".stPlotlyChart") ?? one.ownerSVGElement }));
  drawn.forEach((a, index) => drawn.slice(index + 1).forEach((b) => {
    if (a.figure === b.figure && overprinted(a.corners, b.corners))
      told.push(`over each other: ${plain(a.one.textContent)} / ${plain(b.one.textContent)}`);
  }));
  return told;
}
