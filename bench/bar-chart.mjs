/** An SVG picture of horizontal bars in titled groups: `{ title, bars: [{ name, value }] }`. Readable in light and dark. */
export function drawBars(groups, unit) {
  const [rowHeight, left, width] = [22, 130, 520];
  const most = Math.max(...groups.flatMap(({ bars }) => bars.map(({ value }) => value)));
  const parts = [];
  let y = 0;
  for (const { title, bars } of groups) {
    y += 34;
    parts.push(`<text x="0" y="${y}" class="title">${escaped(title)}</text>`);
    y += 10;
    for (const { name, value } of bars) {
      const length = Math.max(2, Math.round((value / most) * width));
      const style = name === 'cloudctl' ? 'bar own' : 'bar';
      parts.push(
        `<text x="${left - 8}" y="${y + 14}" text-anchor="end">${escaped(name)}</text>`,
        `<rect x="${left}" y="${y + 2}" width="${length}" height="15" class="${style}"/>`,
        `<text x="${left + length + 6}" y="${y + 14}">${value.toFixed(0)} ${unit}</text>`,
      );
      y += rowHeight;
    }
  }
  const styles = [
    'text{font:13px sans-serif;fill:#24292f}.title{font-weight:bold}.bar{fill:#8c959f}.own{fill:#0969da}',
    '@media(prefers-color-scheme:dark){text{fill:#e6edf3}.bar{fill:#6e7681}.own{fill:#4493f8}}',
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${left + width + 80} ${y + 8}" role="img" aria-label="CPU time in ${unit}">
<style>${styles.join('')}</style>
${parts.join('\n')}
</svg>
`;
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
