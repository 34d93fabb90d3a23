import stringWidth from 'string-width';

const cell = { width: 8.4, height: 19 };
const margin = { side: 18, top: 46, bottom: 18 };
const ink = '#d7dae0';
const paper = '#16181d';
/** The sixteen colours of a terminal, in their order: black to white, then bright. */
const colours = [
  '#3b4048',
  '#e8707a',
  '#8fcf74',
  '#e5c07b',
  '#6cb6ff',
  '#c98bdb',
  '#5ccfe6',
  '#d7dae0',
  '#6b7280',
  '#ff8a93',
  '#a9e58e',
  '#f2d398',
  '#8cc8ff',
  '#dba6ea',
  '#86e1f2',
  '#ffffff',
];

/**
 * Draws a session as an animated picture: a terminal, and the pages of a browser beside it. Each line and each page is drawn
 * once and shown while it was on the screen. Where animations are off, the last screen and the last page stay.
 */
export function drawSession({ screens, pages, length, columns, rows, page }) {
  const terminal = {
    width: Math.round(columns * cell.width + 2 * margin.side),
    height: margin.top + rows * cell.height + margin.bottom,
  };
  const left = terminal.width + gap;
  const width = left + page.width;
  const height = Math.max(terminal.height, bar + page.height);
  const lines = new Map();
  screens.forEach(({ at, screen }, index) => {
    const until = screens[index + 1]?.at ?? length;
    for (const row of drawScreen(screen)) show(lines, row, at, until);
  });
  const pictures = new Map();
  pages.forEach(({ at, address, image }, index) => {
    show(pictures, drawPage({ address, image, page, left }), at, pages[index + 1]?.at ?? length);
  });
  const groups = groupByTimes([...lines, ...pictures]);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="A login, a batch of droplets and a database preflight in a terminal, with the pages of the browser beside it">`,
    `<style>${animations(groups, length)}</style>`,
    frame(0, terminal.width, height, paper),
    frame(left, page.width, height, '#2a2e37'),
    `<rect x="${left}" y="${bar}" width="${page.width}" height="${height - bar}" fill="#f4f6f8"/>`,
    `<g font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14" fill="${ink}">`,
    ...groups.map(({ parts }, index) => `<g class="f f${index}">${parts.join('\n')}</g>`),
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

const gap = 16;
/** Height of the title bar of the browser. */
const bar = 40;

function frame(x, width, height, fill) {
  const buttons = ['#ff5f57', '#febc2e', '#28c840'].map(
    (colour, at) => `<circle cx="${x + 22 + at * 20}" cy="20" r="6" fill="${colour}"/>`,
  );
  return `<rect x="${x}" width="${width}" height="${height}" rx="9" fill="${fill}"/>${buttons.join('')}`;
}

function drawPage({ address, image, page, left }) {
  const data = Buffer.from(image).toString('base64');
  return [
    `<rect x="${left + 84}" y="9" width="${page.width - 98}" height="22" rx="11" fill="#16181d"/>`,
    `<text x="${left + 98}" y="24" font-family="sans-serif" font-size="12" fill="#a8aeb9">${escaped(address.length > 36 ? `${address.slice(0, 35)}…` : address)}</text>`,
    `<image x="${left}" y="${bar}" width="${page.width}" height="${page.height}" href="data:image/webp;base64,${data}"/>`,
  ].join('');
}

/** Adds a time during which a part is shown; times that follow each other become one. */
function show(parts, part, from, until) {
  const times = parts.get(part) ?? [];
  const last = times.at(-1);
  if (last?.until === from) last.until = until;
  else times.push({ from, until });
  parts.set(part, times);
}

/** Parts that are shown at the same times share an animation. */
function groupByTimes(parts) {
  const groups = new Map();
  for (const [part, times] of parts) {
    const key = times.map(({ from, until }) => `${from}-${until}`).join();
    const group = groups.get(key) ?? { times, parts: [] };
    group.parts.push(part);
    groups.set(key, group);
  }
  return [...groups.values()];
}

function animations(groups, length) {
  const percent = (at) => `${((100 * at) / length).toFixed(2)}%`;
  const rules = groups.map(({ times }, index) => {
    const steps = times.flatMap(({ from, until }) => [
      `${percent(from)}{visibility:visible}`,
      ...(until < length ? [`${percent(until)}{visibility:hidden}`] : []),
    ]);
    const isLast = times.at(-1).until === length;
    const last = isLast ? `.f${index}{visibility:visible}` : '';
    return `@keyframes k${index}{0%{visibility:hidden}${steps.join('')}}.f${index}{animation-name:k${index}}${last}`;
  });
  const seconds = (length / 1000).toFixed(1);
  return [
    `.f{visibility:hidden;animation:${seconds}s step-end infinite}`,
    ...rules,
    '@media (prefers-reduced-motion:reduce){.f{animation:none}}',
  ].join('\n');
}

/** The rows of a screen of text with SGR colours. Hyperlinks (OSC 8) are left out. */
function drawScreen(screen) {
  let style = plain;
  return screen
    .replace(/\u001b\]8;[^\u0007\u001b]*(?:\u0007|\u001b\\)/g, '')
    .split('\n')
    .map((line, row) => {
      const { runs, after } = read(line, style);
      style = after;
      return drawRow(runs, margin.top + row * cell.height);
    })
    .filter((row) => row !== '');
}

const plain = { fill: ink, back: undefined, bold: false, dim: false, italic: false, underline: false, inverse: false };

/** Splits a line into runs of one style; the style goes on into the next line, as it does in a terminal. */
function read(line, before) {
  const runs = [];
  let style = before;
  let column = 0;
  for (const part of line.split(/(\u001b\[[0-9;:]*m)/)) {
    const codes = /^\u001b\[([0-9;:]*)m$/.exec(part);
    if (codes !== null) {
      style = apply(style, codes[1].split(/[;:]/).map(Number));
    } else if (part !== '') {
      const width = stringWidth(part);
      runs.push({ text: part, column, width, style });
      column += width;
    }
  }
  return { runs, after: style };
}

/** Select Graphic Rendition (ECMA-48 8.3.117), as far as command-line programs use it. */
function apply(style, codes) {
  const [code = 0, ...rest] = codes;
  const set = (change, left = rest) =>
    left.length === 0 ? { ...style, ...change } : apply({ ...style, ...change }, left);
  if (code === 0) return rest.length === 0 ? plain : apply(plain, rest);
  if (code === 1) return set({ bold: true });
  if (code === 2) return set({ dim: true });
  if (code === 3) return set({ italic: true });
  if (code === 4) return set({ underline: true });
  if (code === 7) return set({ inverse: true });
  if (code === 22) return set({ bold: false, dim: false });
  if (code === 23) return set({ italic: false });
  if (code === 24) return set({ underline: false });
  if (code === 27) return set({ inverse: false });
  if (code >= 30 && code <= 37) return set({ fill: colours[code - 30] });
  if (code >= 90 && code <= 97) return set({ fill: colours[code - 82] });
  if (code >= 40 && code <= 47) return set({ back: colours[code - 40] });
  if (code >= 100 && code <= 107) return set({ back: colours[code - 92] });
  if (code === 39) return set({ fill: ink });
  if (code === 49) return set({ back: undefined });
  if (code === 38 || code === 48) {
    const length = rest[0] === 2 ? 4 : 2;
    const colour = rest[0] === 2 ? `rgb(${rest.slice(1, 4).join(',')})` : indexed(rest[1]);
    return set(code === 38 ? { fill: colour } : { back: colour }, rest.slice(length));
  }
  return set({});
}

/** The 256 colours: the sixteen, a cube of six levels a side, and a ramp of grey. */
function indexed(number) {
  if (number < 16) return colours[number];
  if (number >= 232) return `rgb(${[1, 1, 1].map(() => 8 + (number - 232) * 10).join(',')})`;
  const level = (value) => (value === 0 ? 0 : 55 + value * 40);
  const at = number - 16;
  return `rgb(${[Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6].map(level).join(',')})`;
}

function drawRow(runs, top) {
  const boxes = runs.map(({ column, width, style }) => {
    const fill = style.inverse ? style.fill : style.back;
    if (fill === undefined) return '';
    return `<rect x="${x(column)}" y="${top}" width="${(width * cell.width).toFixed(1)}" height="${cell.height}" fill="${fill}"/>`;
  });
  const spans = runs.flatMap(words).map(drawRun);
  if (spans.length === 0) return boxes.join('');
  return `${boxes.join('')}<text y="${top + 14}">${spans.join('')}</text>`;
}

/** A picture swallows repeated spaces, so each stretch between them is placed by itself. */
function words({ text, column, style }) {
  return [...text.matchAll(/\S+(?: \S+)*/g)].map((match) => ({
    text: match[0],
    column: column + stringWidth(text.slice(0, match.index)),
    width: stringWidth(match[0]),
    style,
  }));
}

/** `textLength` keeps the columns straight whatever font the reader has. */
function drawRun({ text, column, width, style }) {
  const fill = style.inverse ? (style.back ?? paper) : style.fill;
  const attributes = [
    `x="${x(column)}"`,
    `textLength="${(width * cell.width).toFixed(1)}"`,
    fill === ink ? '' : `fill="${fill}"`,
    style.bold ? 'font-weight="bold"' : '',
    style.dim ? 'opacity="0.6"' : '',
    style.italic ? 'font-style="italic"' : '',
    style.underline ? 'text-decoration="underline"' : '',
  ];
  return `<tspan ${attributes.filter((attribute) => attribute !== '').join(' ')}>${escaped(text)}</tspan>`;
}

function x(column) {
  return (margin.side + column * cell.width).toFixed(1);
}

function escaped(text) {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
