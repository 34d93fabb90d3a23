/** A token of a function body, with the details that the analysis of names uses. */
export type SqlToken =
  /** The text of the token as system catalogs store names: in lower case unless it was quoted. */
  | { readonly kind: 'word'; readonly text: string; readonly quoted: boolean }
  /** A string constant without its quotes. */
  | { readonly kind: 'string'; readonly text: string }
  | { readonly kind: 'symbol'; readonly text: string };

/**
 * Splits a function body into tokens, and leaves out comments and white space. A string or comment without an end
 * extends to the end of the function body. The body may be hostile: each character is read a fixed number of times, and no
 * regular expression repeats a group, which would overflow the stack.
 */
export function tokenizeBody(body: string): readonly SqlToken[] {
  const tokens: SqlToken[] = [];
  for (let at = 0; at < body.length; ) {
    const operators = matchAt(body, at, operatorRun);
    if (operators !== undefined) {
      for (const text of splitOperators(operators)) tokens.push({ kind: 'symbol', text });
      at += operators.length;
      continue;
    }
    const next = readToken(body, at);
    if (next.token !== undefined) tokens.push(next.token);
    at = next.end;
  }
  return tokens;
}

export function isSqlKeyword(token: SqlToken | undefined, text: string): boolean {
  return token?.kind === 'word' && !token.quoted && token.text === text;
}

export function isSqlSymbol(token: SqlToken | undefined, text: string): boolean {
  return token?.kind === 'symbol' && token.text === text;
}

/** The words of a qualified name such as `a.b.c`; empty if there is no word at `from`. */
export function qualifiedNameAt(tokens: readonly SqlToken[], from: number): readonly string[] {
  const names: string[] = [];
  for (let at = from; ; at += 2) {
    const token = tokens[at];
    if (token?.kind !== 'word') return names;
    names.push(token.text);
    if (!isSqlSymbol(tokens[at + 1], '.') || tokens[at + 2]?.kind !== 'word') return names;
  }
}

/**
 * Whether the token begins a call of pg_input_is_valid or pg_input_error_info with a type that the search_path may decide:
 * its name is no constant, or not that of a type of PostgreSQL and without a schema.
 */
export function isInputByPath(token: SqlToken, at: number, tokens: readonly SqlToken[]): boolean {
  const isCall = token.kind === 'word' && /^pg_input_(?:is_valid|error_info)$/.test(token.text);
  if (!isCall || !isSqlSymbol(tokens[at + 1], '(')) return false;
  let [depth, comma] = [0, at];
  for (let end = at + 1; end < tokens.length; end += 1) {
    const one = tokens[end];
    if (isSqlSymbol(one, '(')) depth += 1;
    else if (isSqlSymbol(one, ',') && depth === 1) comma = end;
    else if (isSqlSymbol(one, ')')) {
      depth -= 1;
      if (depth > 0) continue;
      const [name, ...cast] = tokens.slice(comma + 1, end);
      const isConstant = cast.length === 0 || (cast.length === 2 && isSqlSymbol(cast[0], '::'));
      return !(name?.kind === 'string' && isConstant && fixedTypeName.test(name.text.trim()));
    }
  }
  return true;
}

/** A type of PostgreSQL, or one with its schema. */
const fixedTypeName =
  /^(?:[\w"]+\.[\w" ]+|int[248]?|integer|bigint|smallint|numeric|decimal|real|float[48]?|double precision|bool(?:ean)?|text|varchar|char|uuid|jsonb?|jsonpath|xml|date|time(?:stamp)?(?:tz| with(?:out)? time zone)?|interval|inet|cidr|macaddr8?|bytea|tsvector|tsquery|point|(?:int[48]|num|ts|tstz|date)(?:multi)?range)(?:\(\d+(?:, *\d+)?\))?(?:\[\])*$/i;

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
  if (body[at] === '"') {
    const close = closingQuote(body, at + 1, '"');
    return {
      token: { kind: 'word', text: body.slice(at + 1, close).replaceAll('""', '"'), quoted: true },
      end: close + 1,
    };
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
  const isEscaped = /[eE]/.test(body.charAt(at)) && body[at + 1] === "'";
  if (isEscaped || body[at] === "'") {
    const from = at + (isEscaped ? 2 : 1);
    const close = closingQuote(body, from, "'", isEscaped);
    return { token: { kind: 'string', text: body.slice(from, close).replaceAll("''", "'") }, end: close + 1 };
  }
  const tag = matchAt(body, at, dollar);
  if (tag === undefined) return undefined;
  const close = body.indexOf(tag, at + tag.length);
  const end = close < 0 ? body.length : close;
  return { token: { kind: 'string', text: body.slice(at + tag.length, end) }, end: end + tag.length };
}

const blank = /\s+|--[^\n]*/y;
const dollar = /\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/y;
const plainWord = /[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*/y;
/** Numbers and parameters are tokens of the kind symbol, because they are not names. */
const symbol = /::|:=|\.\.|\$?\d[\w.]*/y;
/** Ends before a comment. */
const operatorRun = /(?:(?!--|\/\*)[-+*/<>=~!@#%^&|`?])+/y;

/**
 * The last character of a PostgreSQL operator is + or - only if it contains one of ~ ! @ # % ^ & | ` ?
 * (https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-OPERATORS).
 */
function splitOperators(run: string): readonly string[] {
  if (/[~!@#%^&|`?]/.test(run)) return [run];
  let end = run.length;
  while (end > 0 && '+-'.includes(run.charAt(end - 1))) end -= 1;
  return [...(end > 0 ? [run.slice(0, end)] : []), ...run.slice(end)];
}

/** The position of the quote that ends the text from `from`, in which two quotes are one; the end if there is none. */
function closingQuote(body: string, from: number, quote: string, isEscaped = false): number {
  for (let at = from; at < body.length; at += 1) {
    const character = body[at];
    if (isEscaped && character === '\\') at += 1;
    else if (character === quote) {
      if (body[at + 1] !== quote) return at;
      at += 1;
    }
  }
  return body.length;
}

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

/** An operand: `$1` or a word, which may be an argument of the function, or the type of a cast. */
export type Operand = { readonly argument: string } | { readonly type: string };

/** The left and the right operand of an operator; undefined if the type is not known. */
export type OperandPair = readonly [left: Operand | undefined, right: Operand | undefined];

/**
 * The operands of the operator at a position; undefined if the token is not an operator, is qualified with a schema, or
 * is an assignment.
 */
export function readOperands(tokens: readonly SqlToken[], at: number): OperandPair | undefined {
  const [before, token] = [tokens[at - 1], tokens[at]];
  if (token?.kind !== 'symbol' || !operator.test(token.text) || isSqlSymbol(before, '.')) return undefined;
  if (token.text === '=' && !comparesAfter(tokens[at - 2])) return undefined;
  return [leftOf(tokens, at), rightOf(tokens, at)];
}

/** The operator that a keyword stands for: `a IS DISTINCT FROM b`, `NULLIF(a, b)`, `CASE a WHEN`, `a IN (`, `a LIKE b`. */
export function readImpliedOperator(
  tokens: readonly SqlToken[],
  at: number,
): { readonly name: string; readonly operands: OperandPair } | undefined {
  const token = tokens[at];
  if (token?.kind !== 'word' || token.quoted) return undefined;
  const isNot = isSqlKeyword(tokens[at - 1], 'not');
  const start = isNot ? at - 1 : at;
  switch (token.text) {
    case 'distinct': {
      if (!isSqlKeyword(tokens[start - 1], 'is') || !isSqlKeyword(tokens[at + 1], 'from')) return undefined;
      return { name: '=', operands: [leftOf(tokens, start - 1), rightOf(tokens, at + 1)] };
    }
    case 'in':
      if (!isSqlSymbol(tokens[at + 1], '(')) return undefined;
      return { name: isNot ? '<>' : '=', operands: [leftOf(tokens, start), undefined] };
    case 'like':
    case 'ilike':
      return {
        name: `${isNot ? '!' : ''}${token.text === 'like' ? '~~' : '~~*'}`,
        operands: [leftOf(tokens, start), rightOf(tokens, at)],
      };
    case 'nullif':
      if (!isSqlSymbol(tokens[at + 1], '(')) return undefined;
      return {
        name: '=',
        operands: [isSqlSymbol(tokens[at + 3], ',') ? argumentOf(tokens[at + 2]) : undefined, undefined],
      };
    case 'case':
      if (isSqlKeyword(tokens[at + 1], 'when') || isSqlKeyword(tokens[at - 1], 'end')) return undefined;
      return {
        name: '=',
        operands: [isSqlKeyword(tokens[at + 2], 'when') ? argumentOf(tokens[at + 1]) : undefined, undefined],
      };
    default:
      return undefined;
  }
}

function leftOf(tokens: readonly SqlToken[], at: number): Operand | undefined {
  const token = tokens[at - 1];
  const isPart = isSqlSymbol(tokens[at - 2], '.');
  if (token?.kind === 'word' && isSqlSymbol(tokens[at - (isPart ? 4 : 2)], '::')) return { type: token.text };
  return isPart ? undefined : argumentOf(token);
}

function rightOf(tokens: readonly SqlToken[], at: number): Operand | undefined {
  const isCast = isSqlSymbol(tokens[at + 2], '::');
  const names = isCast ? qualifiedNameAt(tokens, at + 3) : [];
  const end = isCast ? at + 2 + names.length * 2 : at + 2;
  if (['.', '::', '(', '['].some((text) => isSqlSymbol(tokens[end], text))) return undefined;
  const type = names.at(-1);
  if (isCast) return type === undefined ? undefined : { type };
  return argumentOf(tokens[at + 1]);
}

function argumentOf(token: SqlToken | undefined): Operand | undefined {
  const isOne = token?.kind === 'word' || (token?.kind === 'symbol' && /^\$\d+$/.test(token.text));
  return isOne ? { argument: token.text } : undefined;
}

/** In PL/pgSQL and in UPDATE statements `=` is also an assignment. */
function comparesAfter(token: SqlToken | undefined): boolean {
  return isSqlSymbol(token, '(') || (token?.kind === 'word' && !token.quoted && comparing.has(token.text));
}

const operator = /^[-+*/<>=~!@#%^&|`?]+$/;
const comparing: ReadonlySet<string> = new Set('and if elsif not on or return select when where while'.split(' '));

/** Whether a statement begins at a token. */
export function isStart(tokens: readonly SqlToken[], at: number): boolean {
  const before = tokens[at - 1];
  if (before === undefined || isSqlSymbol(before, ';') || isSqlSymbol(before, '>>')) return true;
  return before.kind === 'word' && !before.quoted && opening.has(before.text);
}

const opening: ReadonlySet<string> = new Set(['begin', 'then', 'else', 'loop']);

/** The token of the closing parenthesis for that of each opening one. */
export function closingParentheses(tokens: readonly SqlToken[]): ReadonlyMap<number, number> {
  const ends = new Map<number, number>();
  const open: number[] = [];
  for (const [at, token] of tokens.entries()) {
    if (isSqlSymbol(token, '(')) open.push(at);
    const start = isSqlSymbol(token, ')') ? open.pop() : undefined;
    if (start !== undefined) ends.set(start, at);
  }
  return ends;
}
