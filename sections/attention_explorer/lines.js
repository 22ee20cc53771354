// Two columns of tokens and between them the edges of some heads. A hand on a token shows its edges alone; a click tells
// the server. Only what is in view is drawn, so that hundreds of tokens scroll.

const TOP = 560, LEVELS = 16

export default ({data, parentElement, setTriggerValue}) => {
  const {tokens, faint, heads, colours, row, column, said, file, scale: type = 1} = data
  const counts = words(data.counts), columns = words(data.columns), weights = bytes(data.weights)
  const count = tokens.length, high = Math.round((count > 80 ? 24 : 26) * type), SIDE = Math.round(168 * type)
  let under = null // what the hand is on: {left: row} | {right: column} | {head: place}

  // edges of each head by row: where they begin
  const starts = new Uint32Array(counts.length + 1)
  counts.forEach((n, i) => { starts[i + 1] = starts[i] + n })

  const drawEdges = (painter, look, x1, x2, top, bottom) => {
    heads.forEach((_, h) => {
      if (under?.head !== undefined && under.head !== h) return
      const colour = look.shade(colours[h])
      const levels = Array.from({length: LEVELS + 1}, () => [])
      for (let from = 0; from < count; from++) {
        if (under?.left !== undefined && under.left !== from) continue
        const y1 = (from + 0.5) * high
        for (let i = starts[h * count + from]; i < starts[h * count + from + 1]; i++) {
          const to = columns[i], y2 = (to + 0.5) * high
          if ((y1 < top && y2 < top) || (y1 > bottom && y2 > bottom)) continue
          if (under?.right !== undefined && under.right !== to) continue
          const apart = under === null && (row !== null || column !== null) && row !== from && column !== to
          const strength = Math.max(1, weights[i]) / 255 * (apart ? 0.15 : 1)
          levels[Math.ceil(Math.sqrt(strength) * LEVELS)].push(x1, y1 - top, x2, y2 - top)
        }
      }
      levels.forEach((points, level) => points.length && painter.lines(points, colour, (level / LEVELS) ** 1.4, 0.8 + 2.2 * level / LEVELS))
    })
  }

  const box = element('div', {className: 'scroll'})
  const sheet = element('div', {className: 'sheet'})
  const canvas = element('canvas', {className: 'edges'})
  sheet.style.height = `${count * high}px`
  box.style.maxHeight = `${TOP}px`
  box.tabIndex = count * high > TOP ? 0 : -1
  sheet.append(canvas)
  const view = framed(type)

  const redraw = () => {
    const width = box.clientWidth, height = Math.min(TOP, count * high), scale = window.devicePixelRatio || 1
    if (!width) return
    const side = Math.min(SIDE, width * 0.36)
    canvas.width = width * scale
    canvas.height = height * scale
    canvas.style.width = `${width}px`
    canvas.style.height = `${height}px`
    view.style.setProperty('--side', `${side}px`)
    const context = canvas.getContext('2d')
    context.scale(scale, scale)
    drawEdges(new CanvasPainter(context), surroundings(view), side, width - side, box.scrollTop, box.scrollTop + height)
  }
  let asked = 0
  const later = () => { cancelAnimationFrame(asked); asked = requestAnimationFrame(redraw) }

  const token = (text, i, side) => {
    const made = element('button', {type: 'button', className: `token ${side}`, title: text}, element('bdi', {textContent: text}))
    made.style.top = `${i * high}px`
    made.style.height = `${high}px`
    made.dataset.place = `${side}-${i}`
    made.classList.toggle('faint', faint[i])
    made.setAttribute('aria-label', `${side === 'left' ? said.from : said.to} ${i + 1} ${text}`)
    made.setAttribute('aria-pressed', i === (side === 'left' ? row : column))
    made.onmouseenter = made.onfocus = () => { under = {[side]: i}; later() }
    made.onmouseleave = made.onblur = () => { under = null; later() }
    made.onclick = () => setTriggerValue('clicked', side === 'left' ? {row: i} : {column: i})
    return made
  }
  sheet.append(...tokens.map((text, i) => token(text, i, 'left')), ...tokens.map((text, i) => token(text, i, 'right')))
  box.append(sheet)

  const chips = element('div', {className: 'chips'})
  if (heads.length > 1) heads.forEach((head, h) => {
    const chip = element('button', {type: 'button', className: 'chip', textContent: head + 1, title: `${said.head} ${head + 1}`})
    chip.style.borderColor = colours[h]
    chip.dataset.place = `chip-${h}`
    chip.onmouseenter = chip.onfocus = () => { under = {head: h}; later() }
    chip.onmouseleave = chip.onblur = () => { under = null; later() }
    chip.onclick = () => setTriggerValue('clicked', {head})
    chips.append(chip)
  })
  const ends = element('div', {className: 'ends'}, element('span', {textContent: `${said.from} ↓`}), element('span', {textContent: `${said.to} ↓`}))

  const wide = () => Math.max(520, Math.min(900, box.clientWidth))
  const drawAll = (painter, look) => {
    under = null
    tokens.forEach((text, i) => {
      const short = text.length > 22 ? `${text.slice(0, 21)}…` : text
      painter.text(SIDE - 8, (i + 0.5) * high, short, look.text, 'right', 14 * type, look.font)
      painter.text(wide() - SIDE + 8, (i + 0.5) * high, short, look.text, 'left', 14 * type, look.font)
    })
    drawEdges(painter, look, SIDE, wide() - SIDE, 0, count * high)
  }
  const keep = pictures(file, () => [wide(), count * high], drawAll, view, said.keep)
  view.append(...(heads.length > 1 ? [chips] : []), ends, box, element('div', {className: 'foot'}, keep))
  renew(parentElement, view)
  box.addEventListener('scroll', later, {passive: true})
  view.addEventListener('transitionend', event => { if (event.target === view) later() }) // the theme has changed
  const observer = new ResizeObserver(later)
  observer.observe(box)
  redraw()
  return () => observer.disconnect()
}
