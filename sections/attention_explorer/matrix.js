// One head as a matrix: rows attend to columns. A click on a cell tells the server; the number shown meanwhile is rounded.

// All columns are in view, however many: a cell is as wide as the page allows. Names stand where they can be read.
const LARGEST = 30, LEAST_NAMED = 15, TALLEST = 600 // pixels

export default ({data, parentElement, setTriggerValue}) => {
  const {tokens, row, column, said, file, shades, scale: type = 1} = data
  const weights = bytes(data.weights), count = tokens.length
  const short = text => text.length > 13 ? `${text.slice(0, 12)}…` : text
  let cell = LARGEST, side = 0, size = 0, named = false, letters = 1
  const measure = width => {
    const labels = Math.round((16 + 8 * Math.max(...tokens.map(text => short(text).length))) * type), largest = Math.min(LARGEST * type, TALLEST / count)
    cell = Math.min(largest, (width - labels - 2) / count)
    named = cell >= LEAST_NAMED
    if (!named) cell = Math.min(largest, (width - 2) / count)
    side = named ? labels : 0
    size = cell * count
    letters = Math.max(1, Math.min(type, (cell - 2) / 14)) // rows are as high as cells are
  }
  const image = picture(weights, 0, count, ramp(shades))
  const view = framed(type)
  const box = element('div', {className: 'matrix', tabIndex: 0, role: 'application'})
  box.setAttribute('aria-label', said.matrix)
  box.dataset.place = 'matrix'
  const canvas = element('canvas')
  const note = element('div', {className: 'note', textContent: said.hint})
  let at = row !== null && column !== null ? [row, column] : null // the cell the hand or the keyboard is on

  const draw = (painter, look) => {
    painter.image(image, side, side, size, size)
    const edges = (line, at) => [at, at + cell].flatMap(line)
    const frames = [
      ...(row === null ? [] : edges(y => [side, y, side + size, y], side + row * cell)),
      ...(column === null ? [] : edges(x => [x, side, x, side + size], side + column * cell)),
    ]
    painter.lines(frames, [255, 255, 255], 1, 4) // seen on any colour
    painter.lines(frames, [0, 0, 0], 1, 2)
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
    if (!view.clientWidth) return
    measure(view.clientWidth)
    const scale = window.devicePixelRatio || 1, whole = side + size + 2, look = surroundings(view)
    canvas.width = canvas.height = whole * scale
    canvas.style.width = canvas.style.height = `${whole}px`
    const context = canvas.getContext('2d')
    context.scale(scale, scale)
    draw(new CanvasPainter(context), look)
    if (named) drawColumns(context, look)
    Object.assign(canvas.dataset, {side, cell})
    if (at) {
      for (const [colour, wide] of [['white', 4], ['black', 2]]) {
        context.strokeStyle = colour
        context.lineWidth = wide
        context.strokeRect(side + at[1] * cell, side + at[0] * cell, cell, cell)
      }
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
  const keep = pictures(file, () => [side + size + 2, side + size + 2], (painter, look) => {
    draw(painter, look)
    if (named && painter.context) drawColumns(painter.context, look)
    else if (named) tokens.forEach((text, i) => painter.parts.push(`<text transform="translate(${side + (i + 0.5) * cell} ${side - 6}) rotate(-90)" fill="${escaped(look.text)}" dominant-baseline="central" font-size="${14 * letters}" font-family="${escaped(look.font)}">${escaped(short(text))}</text>`))
  }, view, said.keep)
  view.append(box, note, element('div', {className: 'foot'}, scaleBar(shades, said.scale), keep))
  renew(parentElement, view)
  view.addEventListener('transitionend', event => { if (event.target === view) redraw() })
  let asked = 0
  const observer = new ResizeObserver(() => { cancelAnimationFrame(asked); asked = requestAnimationFrame(redraw) })
  observer.observe(view)
  redraw()
  return () => observer.disconnect()
}
