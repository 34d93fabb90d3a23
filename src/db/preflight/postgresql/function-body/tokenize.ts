/** A token of a function body, with the details that the analysis of names uses. */
export type SqlToken =
  /** The text of the token as system catalogs store names: in lower case unless it was quoted. */
  | { readonly kind: 'word'; readonly text: string; readonly quoted: boolean }
  /** A string constant without its quotes. */
  | { readonly kind: 'string'; readonly text: string }
  | { readonly kind: 'symbol'; readonly text: string };

/**
 * Splits a function body into tokens, and leaves out comments and white space. A string or comment without an end
 * extends to the end of the function body.
 */
export function tokenizeSqlFunctionBody(body: string): readonly SqlToken[] {
  const tokens: SqlToken[] = [];
  for (let at = 0; at < body.length; ) {
    const next = readToken(body, at);
    if (next.token !== undefined) tokens.push(next.token);
    at = next.end;
  }
  return tokens;
}

export function isGivenSqlKeyword(token: SqlToken | undefined, text: string): boolean {
  return token?.kind === 'word' && !token.quoted && token.text === text;
}

export function isGivenSqlSymbol(token: SqlToken | undefined, text: string): boolean {
  return token?.kind === 'symbol' && token.text === text;
}

/** The words of a qualified name such as `a.b.c`; empty if there is no word at `from`. */
export function qualifiedNameAt(tokens: readonly SqlToken[], from: number): readonly string[] {
  const names: string[] = [];
  for (let at = from; ; at += 2) {
    const token = tokens[at];
    if (token?.kind !== 'word') return names;
    names.push(token.text);
    if (!isGivenSqlSymbol(tokens[at + 1], '.') || tokens[at + 2]?.kind !== 'word') return names;
  }
}

interface TokenRead {
  readonly token?: SqlToken;
  readonly end: number;
}

function readToken(body: string, at: number): TokenRead {
  const found = matchAt(body, at, blank);
  if (found !== undefined) return { end: at + found.length };
  if (body.startsWith('/*', at)) return { end: commentEnd(body, at) };
  const string = stringAt(body, at);
  if (string !== undefined) return string;
  const quoted = matchAt(body, at, quotedWord);
  if (quoted !== undefined) {
    const text = quoted.slice(1, quoted.endsWith('"') ? -1 : undefined).replaceAll('""', '"');
    return { token: { kind: 'word', text, quoted: true }, end: at + quoted.length };
  }
  const word = matchAt(body, at, plainWord);
  if (word !== undefined) {
    // PostgreSQL converts only the letters A to Z of unquoted names to lower case.
    const text = word.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
    return { token: { kind: 'word', text, quoted: false }, end: at + word.length };
  }
  const text = matchAt(body, at, symbol) ?? body.charAt(at);
  return { token: { kind: 'symbol', text }, end: at + text.length };
}

function stringAt(body: string, at: number): TokenRead | undefined {
  const plain = matchAt(body, at, plainString) ?? matchAt(body, at, escapedString);
  if (plain !== undefined) {
    const from = plain.indexOf("'") + 1;
    const text = plain.slice(from, -1).replaceAll("''", "'");
    return { token: { kind: 'string', text }, end: at + plain.length };
  }
  const tag = matchAt(body, at, dollar);
  if (tag === undefined) return undefined;
  const close = body.indexOf(tag, at + tag.length);
  const end = close < 0 ? body.length : close;
  return { token: { kind: 'string', text: body.slice(at + tag.length, end) }, end: end + tag.length };
}

const blank = /\s+|--[^\n]*/y;
const plainString = /'(?:[^']|'')*(?:'|$)/y;
const escapedString = /[eE]'(?:[^'\\]|\\[\s\S]|'')*(?:'|$)/y;
const dollar = /\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/y;
const quotedWord = /"(?:[^"]|"")*(?:"|$)/y;
const plainWord = /[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*/y;
/**
 * Numbers and parameters are tokens of the kind symbol, because they are not names. A PostgreSQL operator ends before a
 * comment, and its last character is + or - only if it contains one of ~ ! @ # % ^ & | ` ?
 * (https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-OPERATORS).
 */
const signs = '(?:(?!--|/\\*)[-+*/<>=~!@#%^&|`?])*';
const symbol = new RegExp(
  `::|:=|\\.\\.|\\$?\\d[\\w.]*|${signs}[~!@#%^&|\`?]${signs}|(?:(?!--|/\\*)[-+*/<>=])*[*/<>=]`,
  'y',
);

function matchAt(body: string, at: number, pattern: RegExp): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(body)?.[0];
}

/** Comments are nested. */
function commentEnd(body: string, from: number): number {
  const marks = /\/\*|\*\//g;
  marks.lastIndex = from;
  let depth = 0;
  for (let mark = marks.exec(body); mark !== null; mark = marks.exec(body)) {
    depth += mark[0] === '/*' ? 1 : -1;
    if (depth === 0) return marks.lastIndex;
  }
  return body.length;
}
