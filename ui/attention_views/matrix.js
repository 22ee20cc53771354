// One head as a matrix: rows attend to columns. A click on a cell tells the server; the number shown meanwhile is rounded.

const LABELS = 40 // tokens up to which rows and columns have names

export default ({data, parentElement, setTriggerValue}) => {
  const {tokens, row, column, said, file, scale: type = 1} = data
  const weights = bytes(data.weights), count = tokens.length
  const cell = Math.max(1, Math.min(30, Math.floor(600 / count)))
  const named = count <= LABELS, side = named ? Math.round(116 * type) : 0, size = cell * count
  const letters = Math.max(1, Math.min(type, (cell - 2) / 14)) // rows are as high as cells are
  const short = text => text.length > 13 ? `${text.slice(0, 12)}…` : text
  const image = picture(weights, 0, count)
  const view = framed(type)
  const box = element('div', {className: 'matrix', tabIndex: 0, role: 'application'})
  box.setAttribute('aria-label', said.matrix)
  box.dataset.place = 'matrix'
  const canvas = element('canvas')
  const note = element('div', {className: 'note', textContent: said.hint})
  let at = row !== null && column !== null ? [row, column] : null // the cell the hand or the keyboard is on

  const draw = (painter, look) => {
    painter.image(image, side, side, size, size)
    const [r, g, b] = look.shade('#D55E00')
    if (row !== null) painter.lines([side, side + row * cell, side + size, side + row * cell, side, side + (row + 1) * cell, side + size, side + (row + 1) * cell], [r, g, b], 0.9, 1.5)
    if (column !== null) painter.lines([side + column * cell, side, side + column * cell, side + size, side + (column + 1) * cell, side, side + (column + 1) * cell, side + size], [r, g, b], 0.9, 1.5)
    if (!named) return
    tokens.forEach((text, i) => painter.text(side - 6, side + (i + 0.5) * cell, short(text), look.text, 'right', 14 * letters, look.font))
  }
  const drawColumns = (context, look) => tokens.forEach((text, i) => {
    context.save()
    context.translate(side + (i + 0.5) * cell, side - 6)
    context.rotate(-Math.PI / 2)
    new CanvasPainter(context).text(0, 0, short(text), look.text, 'left', 14 * letters, look.font)
    context.restore()
  })
  const redraw = () => {
    const scale = window.devicePixelRatio || 1, whole = side + size + 2, look = surroundings(view)
    canvas.width = canvas.height = whole * scale
    canvas.style.width = canvas.style.height = `${whole}px`
    const context = canvas.getContext('2d')
    context.scale(scale, scale)
    draw(new CanvasPainter(context), look)
    if (named) drawColumns(context, look)
    if (at) {
      context.strokeStyle = look.text
      context.lineWidth = 2
      context.strokeRect(side + at[1] * cell, side + at[0] * cell, cell, cell)
      note.textContent = `${at[0] + 1} · ${tokens[at[0]]} → ${at[1] + 1} · ${tokens[at[1]]}: ≈ ${(weights[at[0] * count + at[1]] / 255).toFixed(2)}`
    } else note.textContent = said.hint
  }
  const place = event => {
    const frame = canvas.getBoundingClientRect()
    const spot = [event.clientY - frame.top, event.clientX - frame.left].map(v => Math.floor((v - side) / cell))
    return spot.every(i => i >= 0 && i < count) ? spot : null
  }
  canvas.onmousemove = event => { at = place(event); redraw() }
  canvas.onmouseleave = () => { at = null; redraw() }
  const tell = () => at && setTriggerValue('clicked', {row: at[0], column: at[1]})
  canvas.onclick = event => { at = place(event); tell() }
  box.onkeydown = event => {
    const step = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key]
    if (step) {
      at = at ? at.map((v, i) => Math.max(0, Math.min(count - 1, v + step[i]))) : [0, 0]
      event.preventDefault()
      event.stopPropagation()
      redraw()
    } else if (event.key === 'Enter') tell()
  }
  box.append(canvas)
  view.append(box, note, pictures(file, () => [side + size + 2, side + size + 2], (painter, look) => {
    draw(painter, look)
    if (named && painter.context) drawColumns(painter.context, look)
    else if (named) tokens.forEach((text, i) => painter.parts.push(`<text transform="translate(${side + (i + 0.5) * cell} ${side - 6}) rotate(-90)" fill="${escaped(look.text)}" dominant-baseline="central" font-size="${14 * letters}" font-family="${escaped(look.font)}">${escaped(short(text))}</text>`))
  }, view, said.keep))
  renew(parentElement, view)
  view.addEventListener('transitionend', event => { if (event.target === view) redraw() })
  redraw()
}
