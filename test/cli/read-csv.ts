/** The grammar of RFC 4180 section 2, written down again, with LF at the end of a record. */
export function readCsv(text: string): readonly (readonly string[])[] {
  const rows: string[][] = [];
  let at = 0;
  while (at < text.length) {
    const row: string[] = [];
    for (;;) {
      let cell = '';
      if (text[at] === '"') {
        at += 1;
        while (text[at] !== '"' || text[at + 1] === '"') {
          cell += text[at];
          at += text[at] === '"' ? 2 : 1;
        }
        at += 1;
      } else {
        while (text[at] !== ',' && text[at] !== '\n') {
          if (text[at] === '"' || text[at] === '\r' || text[at] === undefined) throw new Error('bare');
          cell += text[at];
          at += 1;
        }
      }
      row.push(cell);
      if (text[at] !== ',') break;
      at += 1;
    }
    if (text[at] !== '\n') throw new Error('a record must end with LF');
    at += 1;
    rows.push(row);
  }
  return rows;
}
