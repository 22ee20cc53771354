// axe-core on the elements `within`, with the page's scrolled container open: what is scrolled out of it, axe does not judge.
async ([within, options]) => {
  const opened = [];
  for (let one = document.querySelector(".stMainBlockContainer"); one; one = one.parentElement) {
    opened.push([one, one.getAttribute("style")]);
    one.style.setProperty("overflow", "visible", "important");
  }
  try {
    return (await axe.run(within, options)).violations;
  } finally {
    for (const [one, style] of opened) style === null ? one.removeAttribute("style") : one.setAttribute("style", style);
  }
}
