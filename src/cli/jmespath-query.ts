import type { JSONValue } from '@jmespath-community/jmespath';
import { usageError } from '../base/errors.ts';
import { parseExactJsonOrThrow, stringifyExact } from '../base/exact.ts';
import { sanitizeLine } from '../base/sanitize.ts';
import { replaceLosslessNumbersWithDoubles } from './replace-lossless-numbers.ts';
import { shortenInputForError } from './shorten-input-for-error.ts';

/** A compiled JMESPath expression (https://jmespath.site), called with the data to query. */
export interface JmespathQuery {
  (data: unknown): unknown;
  /** Whether querying each part of a list separately gives the same result, so that a list can be queried page by page. */
  readonly isItemwise: boolean;
  /**
   * The columns of an empty result, which has no objects with keys: those of a result with rows. Undefined if the expression
   * selects rows unchanged, so that they have the columns of their view.
   */
  readonly emptyColumns: readonly string[] | undefined;
}

/** Compiles an expression. Throws a usage error before any request if the expression is not valid. */
export async function compileJmespath(text: string): Promise<JmespathQuery> {
  const { compile, TreeInterpreter } = await import('@jmespath-community/jmespath');
  const attempt = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw queryError(error, text);
    }
  };
  const written = attempt(() => readLiterals(text));
  const compileWith = (literals: readonly unknown[]) => attempt(() => compile(writeLiterals(written.texts, literals)));
  const expression = compileWith(written.literals);
  const search = (searched: Expression, data: unknown): unknown =>
    attempt(() => (isJsonValue(data) ? TreeInterpreter.search(searched, data) : null));
  const run = (data: unknown): unknown => {
    // A literal gets the doubles of the data: of two ids beyond 2^53, the written one is found and not its neighbour.
    const known = replaceLosslessNumbersWithDoubles(data, written.literals);
    return known === undefined
      ? search(expression, data)
      : known.restore(search(compileWith(known.literals), known.data));
  };
  return Object.assign(run, {
    isItemwise: isElementwise(expression) && !JSON.stringify(expression).includes(rootNodeMarker),
    emptyColumns: columnsOf(expression),
  });
}

/** An expression split at its backtick literals: each literal stands between two of the texts. */
interface SplitExpression {
  readonly texts: readonly string[];
  readonly literals: readonly unknown[];
}

/** A quoted identifier, a raw string, or a backtick literal (also one without its end). */
const quotedPart = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?<literal>(?:[^`\\]|\\.)*)(?<end>`?)/gs;

/**
 * Reads the backtick literals of an expression: JSON in which `` \` `` is a backtick, or the older form of a string without
 * its quotes (https://jmespath.org/specification.html#literal-expressions), which users of aws type. Numbers keep their digits.
 */
function readLiterals(text: string): SplitExpression {
  const texts: string[] = [];
  const literals: unknown[] = [];
  let at = 0;
  for (const { 0: part, index, groups = {} } of text.matchAll(quotedPart)) {
    const { literal, end } = groups;
    if (literal === undefined) continue;
    if (end === '') throw new Error(`the literal ${shortenInputForError(part)} has no backtick at its end`);
    literals.push(parseLiteral(literal.replaceAll('\\`', '`').replace(/^[ \t\r\n]+/, ''), part));
    texts.push(text.slice(at, index));
    at = index + part.length;
  }
  return { texts: [...texts, text.slice(at)], literals };
}

function parseLiteral(text: string, part: string): unknown {
  try {
    return parseExactJsonOrThrow(text);
  } catch {
    // What begins as a list, an object or a quoted string is JSON with a mistake, and would match nothing as a string.
    const string = /^[[{"]|^$/.test(text) ? undefined : parseString(`"${text}"`);
    if (string === undefined) throw new Error(`the literal ${shortenInputForError(part)} is not JSON`);
    return string;
  }
}

function parseString(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function writeLiterals(texts: readonly string[], literals: readonly unknown[]): string {
  const [first = '', ...rest] = texts;
  // Only strings of JSON contain backticks, so each can be written as an escape.
  const written = literals.map((value) => `\`${(stringifyExact(value) ?? '').replaceAll('`', '\\u0060')}\``);
  return first + rest.map((text, at) => `${written[at]}${text}`).join('');
}

type Expression = ReturnType<typeof import('@jmespath-community/jmespath')['compile']>;

/** The JMESPath node `$`, which means the whole input wherever it occurs in the expression. */
const rootNodeMarker = '"type":"Root"';

/**
 * True for an expression that is evaluated item by item. The expressions `[0]`, `[:5]`, `length(@)` and `sort(@)` need the
 * whole list.
 */
function isElementwise(node: Expression): boolean {
  switch (node.type) {
    case 'Identity':
    case 'Current':
      return true;
    case 'Flatten':
      return isElementwise(node.child);
    case 'Projection':
    case 'FilterProjection':
      return isElementwise(node.left);
    case 'Pipe':
      return isElementwise(node.left) && isElementwise(node.right);
    default:
      return false;
  }
}

/** The keys of `{…}` at the end of an expression; empty for other values, and undefined for unchanged rows. */
function columnsOf(node: Expression): readonly string[] | undefined {
  switch (node.type) {
    case 'Identity':
    case 'Current':
      return undefined;
    case 'MultiSelectHash':
      return node.children.map(({ name }) => name);
    case 'Flatten':
      return columnsOf(node.child);
    case 'LetExpression':
      return columnsOf(node.expression);
    // An empty list is false: `rows || other` has the columns of the rows that are missing.
    case 'OrExpression':
      return columnsOf(node.left);
    case 'AndExpression':
      return columnsOf(node.right);
    case 'Projection':
    case 'FilterProjection':
    case 'ValueProjection':
    case 'Pipe':
    case 'Subexpression':
      return columnsOf(node.right) ?? columnsOf(node.left);
    case 'IndexExpression':
      return node.right.type === 'Slice' ? columnsOf(node.left) : [];
    case 'Function': {
      const [first] = node.children;
      return ['sort', 'sort_by', 'reverse'].includes(node.name) && first !== undefined ? columnsOf(first) : [];
    }
    default:
      return [];
  }
}

function queryError(error: unknown, text: string) {
  const reason = error instanceof Error ? sanitizeLine(error.message) : 'unknown reason';
  // In double quotes the shell runs what stands in backticks, and nothing is left of it.
  const lacksLiteral = /[<>=]\s*[\])}|&,]/.test(text);
  return usageError(
    '--query is not a valid JMESPath expression',
    lacksLiteral
      ? "keep backticks from the shell with single quotes: `--query '[?id > `5`]'`"
      : 'use a form such as `--query "[?status==\'active\'].name"` (see https://jmespath.site)',
    reason,
  );
}

// JSON can represent every value except undefined.
function isJsonValue(value: unknown): value is JSONValue {
  return value !== undefined;
}
