// What the three views share: numbers from the server, the page's colours, drawing on a canvas or as SVG, pictures to keep.

const bytes = text => Uint8Array.from(atob(text), char => char.charCodeAt(0))
const words = text => new Uint16Array(bytes(text).buffer)

const element = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

// The page's colours now; a colour in darker or lighter surroundings.
const surroundings = root => {
  const style = getComputedStyle(root)
  const probe = document.createElement('canvas').getContext('2d', {willReadFrequently: true})
  const rgb = colour => {
    probe.clearRect(0, 0, 1, 1)
    probe.fillStyle = colour
    probe.fillRect(0, 0, 1, 1)
    return [...probe.getImageData(0, 0, 1, 1).data].slice(0, 3)
  }
  const back = style.getPropertyValue('--st-background-color') || '#ffffff'
  const dark = rgb(back).reduce((a, b) => a + b) < 382
  return {
    back, text: style.color, dark, font: style.fontFamily,
    shade: colour => rgb(colour).map(part => Math.round(dark ? part + (255 - part) * 0.3 : part)),
  }
}

class CanvasPainter {
  constructor(context) { this.context = context }
  // lines: [x1, y1, x2, y2, …] of one colour and strength
  lines(points, [r, g, b], alpha, width) {
    const c = this.context
    c.strokeStyle = `rgba(${r},${g},${b},${alpha})`
    c.lineWidth = width
    for (let i = 0; i < points.length; i += 4) { // each on its own: one long path is several times as slow
      c.beginPath()
      c.moveTo(points[i], points[i + 1])
      c.lineTo(points[i + 2], points[i + 3])
      c.stroke()
    }
  }
  text(x, y, text, colour, anchor, size, font) {
    const c = this.context
    c.fillStyle = colour
    c.font = `${size}px ${font}`
    c.textAlign = anchor
    c.textBaseline = 'middle'
    c.fillText(text, x, y)
  }
  image(picture, x, y, width, height) {
    this.context.imageSmoothingEnabled = width < picture.width // cells below a pixel are averaged, none is left out
    this.context.drawImage(picture, x, y, width, height)
  }
}

const escaped = text => text.replace(/[&<>"']/g, char => `&#${char.charCodeAt(0)};`)
  .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')

class SvgPainter {
  constructor() { this.parts = [] }
  lines(points, [r, g, b], alpha, width) {
    let path = ''
    for (let i = 0; i < points.length; i += 4)
      path += `M${points[i].toFixed(1)} ${points[i + 1].toFixed(1)}L${points[i + 2].toFixed(1)} ${points[i + 3].toFixed(1)}`
    this.parts.push(`<path d="${path}" fill="none" stroke="rgb(${r},${g},${b})" stroke-opacity="${alpha.toFixed(3)}" stroke-width="${width}"/>`)
  }
  text(x, y, text, colour, anchor, size, font) {
    const where = {left: 'start', right: 'end', center: 'middle'}[anchor]
    this.parts.push(`<text x="${x}" y="${y}" fill="${escaped(colour)}" text-anchor="${where}" dominant-baseline="central" font-size="${size}" font-family="${escaped(font)}">${escaped(text)}</text>`)
  }
  image(picture, x, y, width, height) {
    this.parts.push(`<image x="${x}" y="${y}" width="${width}" height="${height}" style="image-rendering:pixelated" href="${picture.toDataURL()}"/>`)
  }
  document(width, height, back) {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><rect width="100%" height="100%" fill="${escaped(back)}"/>${this.parts.join('')}</svg>`
  }
}

const keep = (blob, name) => {
  const link = element('a', {href: URL.createObjectURL(blob), download: name})
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}

// Two buttons that keep what `draw(painter, look)` draws in `width` × `height` as a picture.
const pictures = (name, size, draw, root, label) => {
  const made = kind => {
    const look = surroundings(root), [width, height] = size()
    if (kind === 'SVG') {
      const painter = new SvgPainter()
      draw(painter, look)
      keep(new Blob([painter.document(width, height, look.back)], {type: 'image/svg+xml'}), `${name}.svg`)
      return
    }
    const scale = Math.min(2, 16_000 / Math.max(width, height))
    const canvas = element('canvas', {width: Math.round(width * scale), height: Math.round(height * scale)})
    const context = canvas.getContext('2d')
    context.fillStyle = look.back
    context.fillRect(0, 0, canvas.width, canvas.height)
    context.scale(scale, scale)
    draw(new CanvasPainter(context), look)
    canvas.toBlob(blob => keep(blob, `${name}.png`))
  }
  return element('div', {className: 'pictures'}, element('span', {textContent: label}),
    ...['SVG', 'PNG'].map(kind => element('button', {type: 'button', textContent: kind, onclick: () => made(kind)})))
}

// The colours of the weights 0 … 255, from those of a few evenly apart.
const ramp = shades => {
  const known = shades.map(colour => [1, 3, 5].map(at => parseInt(colour.slice(at, at + 2), 16)))
  return Array.from({length: 256}, (_, weight) => {
    const at = weight / 255 * (known.length - 1), below = Math.min(Math.floor(at), known.length - 2)
    return known[below].map((part, i) => Math.round(part + (at - below) * (known[below + 1][i] - part)))
  })
}

// Weights 0 … 255 as a picture, in the colours of `ramp`.
const picture = (weights, offset, size, colours) => {
  const canvas = element('canvas', {width: size, height: size})
  const context = canvas.getContext('2d')
  const image = context.createImageData(size, size)
  for (let i = 0; i < size * size; i++) {
    const [r, g, b] = colours[weights[offset + i]]
    image.data[4 * i] = r
    image.data[4 * i + 1] = g
    image.data[4 * i + 2] = b
    image.data[4 * i + 3] = 255
  }
  context.putImageData(image, 0, 0)
  return canvas
}

// What the colours mean: from 0 to 1.
const scaleBar = (shades, label) => {
  const bar = element('span', {className: 'bar'})
  bar.style.background = `linear-gradient(to right, ${shades.join(', ')})`
  const made = element('div', {className: 'scale', title: label}, element('span', {textContent: '0'}), bar, element('span', {textContent: '1'}))
  made.setAttribute('role', 'img')
  made.setAttribute('aria-label', label)
  return made
}

// The box of a view, its type `scale` times as large as at a desk; who sees it on a wall keeps no pictures.
const framed = (scale, ...children) => {
  const view = element('div', {className: 'view'}, ...children)
  view.style.setProperty('--scale', scale)
  view.classList.toggle('projected', scale > 1)
  return view
}

// Put `view` where the view before it stood; the keyboard's place and how far it was scrolled are kept.
const renew = (parent, view) => {
  const before = parent.querySelector('.view')
  const active = parent.activeElement ?? document.activeElement
  const place = before?.contains(active) ? active.dataset.place : undefined
  const scrolled = before?.querySelector('.scroll')?.scrollTop
  before ? before.replaceWith(view) : parent.append(view)
  const box = view.querySelector('.scroll')
  if (box && scrolled) box.scrollTop = scrolled
  if (place) view.querySelector(`[data-place="${place}"]`)?.focus({preventScroll: true})
}
