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

/** Draws a screen of text with SGR colours as a picture of a terminal window. */
export function drawTerminal(screen, { columns, title }) {
  const lines = screen.split('\n');
  const width = Math.round(columns * cell.width + 2 * margin.side);
  const height = margin.top + lines.length * cell.height + margin.bottom;
  let style = plain;
  const rows = lines.map((line, row) => {
    const { runs, after } = read(line, style);
    style = after;
    return drawRow(runs, margin.top + row * cell.height);
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)} in a terminal">`,
    `<rect width="${width}" height="${height}" rx="9" fill="${paper}"/>`,
    ...['#ff5f57', '#febc2e', '#28c840'].map(
      (fill, at) => `<circle cx="${22 + at * 20}" cy="20" r="6" fill="${fill}"/>`,
    ),
    `<text x="${width / 2}" y="24" text-anchor="middle" fill="#8b919c" font-family="sans-serif" font-size="13">${escaped(title)}</text>`,
    `<g font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14" fill="${ink}">`,
    ...rows.filter((row) => row !== ''),
    '</g>',
    '</svg>',
    '',
  ].join('\n');
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
