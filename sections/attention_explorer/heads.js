// All layers × heads as small pictures. A click tells the server which one.

const TALL = 320 // pixels of the pictures of all layers, where nothing is written under them

export default ({data, parentElement, setTriggerValue}) => {
  const {layers, heads, size, labels, titles, selected, crossed, said, file, shades, scale = 1} = data
  const weights = bytes(data.weights)
  const colours = ramp(shades)
  const small = Array.from({length: layers * heads}, (_, i) => picture(weights, i * size * size, size, colours))
  const grid = element('div', {className: 'grid'})
  const named = labels.some(label => label)
  const least = named ? (heads > 8 ? 60 : 66) * scale : 24 // room for a word; twelve heads fit the page without scrolling
  const most = named ? 150 : Math.max(least, Math.min(150, TALL * scale / layers)) // all layers are in view at once
  grid.style.gridTemplateColumns = `max-content repeat(${heads}, minmax(${least}px, ${most}px))`
  grid.append(element('span', {className: 'corner'}))
  for (let head = 0; head < heads; head++)
    grid.append(element('span', {className: 'axis', textContent: heads > 8 ? head + 1 : `${said.head} ${head + 1}`}))
  small.forEach((canvas, i) => {
    const layer = Math.floor(i / heads), head = i % heads
    if (head === 0) grid.append(element('span', {className: 'axis', textContent: heads > 8 ? layer + 1 : `${said.layer} ${layer + 1}`}))
    const cell = element('button', {type: 'button', className: 'cell', title: titles[i]}, canvas)
    cell.setAttribute('aria-label', titles[i])
    cell.setAttribute('aria-pressed', i === selected)
    cell.dataset.place = `head-${i}`
    cell.classList.toggle('crossed', crossed.includes(i))
    if (labels[i]) cell.append(element('small', {textContent: labels[i]}))
    cell.onclick = () => setTriggerValue('clicked', {layer, head})
    grid.append(cell)
  })
  grid.classList.toggle('many', heads > 8)
  const view = framed(scale, grid)
  const step = named ? 132 : 96
  const draw = (painter, look) => {
    for (let head = 0; head < heads; head++)
      painter.text(56 + (head + 0.5) * step, 14, `${said.head} ${head + 1}`, look.text, 'center', 14, look.font)
    small.forEach((canvas, i) => {
      const x = 60 + (i % heads) * step, y = 28 + Math.floor(i / heads) * (step + 20)
      if (i % heads === 0) painter.text(54, y + step / 2, `${said.layer} ${i / heads + 1}`, look.text, 'right', 14, look.font)
      painter.image(canvas, x, y, step - 8, step - 8)
      painter.text(x + step / 2 - 4, y + step + 2, labels[i].replace('\n', ' '), look.text, 'center', 12, look.font)
    })
  }
  const keep = pictures(file, () => [70 + heads * step, 36 + layers * (step + 20)], draw, view, said.keep)
  view.append(element('div', {className: 'foot'}, scaleBar(shades, said.scale), keep))
  renew(parentElement, view)
}
