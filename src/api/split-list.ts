/** The text of a JSON object, with the objects of one of its lists taken out. */
export interface SplitList {
  /** Each object of the list as the JSON text it came as. */
  readonly texts: readonly string[];
  /** The text with `null` in place of each of them. */
  readonly rest: string;
}

/**
 * Takes the list under `key` apart before anything is parsed. Its items can then be parsed one by one and forgotten, which
 * keeps the heap small, and be printed as they came: writing them anew costs as much as reading them, and numbers beyond
 * 2^53 would not stay what they are. Whether it is JSON at all is for the parser: the text is, if the rest and each item are.
 * undefined: it stands on several lines, or there are two such lists, of which JSON.parse would take the last.
 */
export function splitList(text: string, key: string): SplitList | undefined {
  if (text.includes('\n') || text.includes('\r')) return undefined;
  const name = JSON.stringify(key);
  const texts: string[] = [];
  const between: string[] = [];
  let [lists, depth, start, end] = [0, 0, 0, 0];
  let isWanted = false;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote: {
        const closing = closingQuote(text, at);
        if (depth === 1 && text.charCodeAt(closing + 1) === colon) isWanted = text.slice(at, closing + 1) === name;
        at = closing;
        break;
      }
      case openBracket:
        if (depth === 1 && isWanted) lists += 1;
        depth += 1;
        break;
      case openBrace:
        if (depth === 2) start = at;
        depth += 1;
        break;
      case closeBrace:
        depth -= 1;
        if (depth !== 2 || !isWanted) break;
        between.push(text.slice(end, start));
        end = at + 1;
        texts.push(text.slice(start, end));
        break;
      case closeBracket:
        depth -= 1;
    }
  }
  return lists > 1 ? undefined : { texts, rest: [...between, text.slice(end)].join('null') };
}

function closingQuote(text: string, opening: number): number {
  for (let at = text.indexOf('"', opening + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let before = at - 1;
    while (text.charCodeAt(before) === backslash) before -= 1;
    // An even number of backslashes escapes nothing but themselves.
    if ((at - before) % 2 === 1) return at;
  }
  return text.length;
}

const [quote, backslash, colon] = [34, 92, 58];
const [openBracket, closeBracket, openBrace, closeBrace] = [91, 93, 123, 125];
