import type { JSONValue } from '@jmespath-community/jmespath';
import { CliError, usageError } from '../base/errors.ts';
import { isLossless, parseExact, stringifyExact } from '../base/exact.ts';
import { isJsonRecord } from '../base/json.ts';
import { sanitizeLine } from '../base/sanitize.ts';
import type { CommandSpec } from './command.ts';
import { nearestList, nearestWord, shortenInput } from './values.ts';

/**
 * Data for JMESPath in which doubles replace exact numbers, and a function that restores the numbers in the query result.
 */
interface DataWithReplacedLosslessNumbers {
  readonly data: unknown;
  readonly literals: readonly unknown[];
  /**
   * Restores the original values in a query result: unchanged lists and objects are identical to the input, and numbers beyond
   * 2^53 have all digits.
   */
  readonly restore: (result: unknown) => unknown;
}

/**
 * Replaces exact numbers (src/base/exact.ts) with doubles, which JMESPath can compute with; returns undefined if there are no
 * exact numbers. @param literals values of the query, in which equal numbers get the same doubles as in the data
 */
export function toDoubles(
  data: unknown,
  literals: readonly unknown[] = [],
): DataWithReplacedLosslessNumbers | undefined {
  const exact = new Map<string, unknown>();
  collectNumbers(data, exact);
  collectNumbers(literals, exact);
  if (![...exact.values()].some(isLossless)) return undefined;
  const doubles = assignDoubles([...exact.keys()]);
  const texts = new Map([...doubles].map(([text, double]) => [double, text]));
  const originals = new Map<unknown, unknown>();
  const toDouble = (value: unknown) => {
    if (isLossless(value)) return doubles.get(String(value)) ?? Number(value);
    return typeof value === 'number' && isLarge(value) ? doubles.get(String(BigInt(value))) : undefined;
  };
  return {
    data: mapDeep(data, toDouble, originals),
    literals: literals.map((value) => mapDeep(value, toDouble, originals)),
    restore: (result) =>
      mapDeep(result, (value) =>
        typeof value === 'number' ? exact.get(texts.get(value) ?? '') : originals.get(value),
      ),
  };
}

/** Collects exact numbers and doubles beyond 2^53, by their digits. */
function collectNumbers(value: unknown, exact: Map<string, unknown>): void {
  if (isLossless(value)) exact.set(String(value), value);
  else if (typeof value === 'number' && isLarge(value)) exact.set(String(BigInt(value)), value);
  else if (typeof value === 'object' && value !== null)
    for (const one of Object.values(value)) collectNumbers(one, exact);
}

/**
 * Assigns the nearest unused double to each whole number beyond 2^53, in ascending order, so that the numbers keep their order
 * and can be restored from the doubles.
 */
function assignDoubles(texts: readonly string[]): ReadonlyMap<string, number> {
  const large = texts.filter((text) => /^-?\d+$/.test(text) && isLarge(Number(text))).map(BigInt);
  const doubles = new Map<string, number>();
  let last = Number.NEGATIVE_INFINITY;
  for (const value of large.sort((a, b) => (a < b ? -1 : Number(a > b)))) {
    const double = Math.max(Number(value), last === Number.NEGATIVE_INFINITY ? last : nextDouble(last));
    doubles.set(String(value), double);
    last = double;
  }
  return doubles;
}

function isLarge(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}

/** Returns the next larger double. */
function nextDouble(value: number): number {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  bits.setBigInt64(0, bits.getBigInt64(0) + (value < 0 ? -1n : 1n));
  return bits.getFloat64(0);
}

/**
 * Replaces values deeply. `change` returns the replacement of a value, or undefined if its children are to be visited. A list
 * or object without replacements is returned itself, not as a copy.
 */
function mapDeep(value: unknown, change: (value: unknown) => unknown, originals?: Map<unknown, unknown>): unknown {
  const other = change(value);
  if (other !== undefined) return other;
  if (typeof value !== 'object' || value === null) return value;
  const before: readonly unknown[] = Object.values(value);
  const after = before.map((one) => mapDeep(one, change, originals));
  if (after.every((one, at) => Object.is(one, before[at]))) return value;
  const copy = Array.isArray(value)
    ? after
    : Object.fromEntries(Object.keys(value).map((name, at) => [name, after[at]]));
  originals?.set(copy, value);
  return copy;
}

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
  /** The fields that the expression reads and does not itself make. */
  readonly fieldNames: readonly string[];
}

/**
 * Compiles an expression. Throws a usage error before any request if the expression is not valid, calls an unknown function,
 * or calls one with a wrong number of arguments. The query throws `query_failed` for data that it cannot be applied to.
 */
export async function compileJmespath(text: string): Promise<JmespathQuery> {
  const { compile, TreeInterpreter } = await import('@jmespath-community/jmespath');
  const attempt = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw syntaxError(error, text);
    }
  };
  const written = attempt(() => readLiterals(text));
  const compileWith = (literals: readonly unknown[]) => attempt(() => compile(writeLiterals(written.texts, literals)));
  const expression = compileWith(written.literals);
  attempt(() => checkCalls(expression, (call) => TreeInterpreter.search(call, null)));
  const search = (searched: Expression, data: unknown): unknown => {
    try {
      return isJsonValue(data) ? TreeInterpreter.search(searched, data) : null;
    } catch (error) {
      throw resultError(`--query cannot be applied to the result: ${reasonOf(error).replace(/\.$/, '')}`);
    }
  };
  const run = (data: unknown): unknown => {
    // A literal gets the doubles of the data: of two ids beyond 2^53, the written one is found and not its neighbour.
    const known = toDoubles(data, written.literals);
    return known === undefined
      ? search(expression, data)
      : known.restore(search(compileWith(known.literals), known.data));
  };
  return Object.assign(run, {
    isItemwise: isElementwise(expression) && !JSON.stringify(expression).includes(rootNodeMarker),
    emptyColumns: columnsOf(expression),
    fieldNames: fieldsOf(expression),
  });
}

/** What a query was applied to, page by page: tells a misspelt field from rows that are rightly not found. */
export class QueriedData {
  readonly #query: JmespathQuery;
  readonly #fields = new Set<string>();
  readonly #absent: Set<string>;
  #isNothing = true;

  constructor(query: JmespathQuery) {
    this.#query = query;
    this.#absent = new Set(query.fieldNames);
  }

  /** The result for these data. */
  query(data: unknown): unknown {
    const result = this.#query(data);
    this.#isNothing &&= holdsNothing(result);
    if (!this.#isNothing) return result;
    for (const row of Array.isArray(data) ? data : [data]) {
      if (isJsonRecord(row)) for (const name of Object.keys(row)) this.#fields.add(name);
      this.#removePresent(row);
    }
    return result;
  }

  /** The notice for a result without a value, if the query reads a field that is nowhere in the data. */
  notice(): string | undefined {
    const [first] = this.#absent;
    if (!this.#isNothing || first === undefined || this.#fields.size === 0) return undefined;
    const named = [...this.#fields].slice(0, 20).map((name) => shortenInput(name));
    const more = this.#fields.size > named.length ? ` and ${this.#fields.size - named.length} more` : '';
    return `The result of --query is empty: there is no field "${shortenInput(first)}"; the fields are ${named.join(', ')}${more}.`;
  }

  #removePresent(value: unknown): void {
    if (this.#absent.size === 0 || typeof value !== 'object' || value === null) return;
    if (isJsonRecord(value)) for (const name of Object.keys(value)) this.#absent.delete(name);
    for (const one of Object.values(value)) this.#removePresent(one);
  }
}

/** Whether a result has no value: null, or a list or object of such values alone. */
function holdsNothing(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if (typeof value !== 'object' || isLossless(value)) return false;
  const parts: readonly unknown[] = Object.values(value);
  return parts.every(holdsNothing);
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
    if (end === '') throw new Error(`the literal ${shortenInput(part)} has no backtick at its end`);
    literals.push(parseLiteral(literal.replaceAll('\\`', '`').replace(/^[ \t\r\n]+/, ''), part));
    texts.push(text.slice(at, index));
    at = index + part.length;
  }
  return { texts: [...texts, text.slice(at)], literals };
}

function parseLiteral(text: string, part: string): unknown {
  try {
    return parseExact(text);
  } catch {
    // What begins as a list, an object or a quoted string is JSON with a mistake, and would match nothing as a string.
    const string = /^[[{"]|^$/.test(text) ? undefined : parseString(`"${text}"`);
    if (string === undefined) throw new Error(`the literal ${shortenInput(part)} is not JSON`);
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

/** The names of the fields that an expression reads, but for those that its own `{…}` has made before. */
function fieldsOf(expression: Expression): readonly string[] {
  const [read, made] = [new Map<string, boolean>(), new Set<string>()];
  const collect = (node: unknown, isInHash: boolean): void => {
    if (!isJsonRecord(node) && !Array.isArray(node)) return;
    const { type, name } = isJsonRecord(node) ? node : {};
    if (type === 'Literal') return;
    const isPair = type === 'KeyValuePair';
    if (typeof name === 'string') {
      if (type === 'Field') read.set(name, isInHash || read.get(name) === true);
      if (isPair) made.add(name);
    }
    for (const part of Object.values(node)) collect(part, isInHash || isPair);
  };
  collect(expression, false);
  return [...read].flatMap(([name, isInHash]) => (isInHash || !made.has(name) ? [name] : []));
}

/** Throws for a call of an unknown function, or with a wrong number of arguments; the types depend on the data. */
function checkCalls(node: unknown, search: (call: Expression) => unknown): void {
  if (typeof node !== 'object' || node === null) return;
  if (isCall(node)) {
    try {
      search({ ...node, children: node.children.map(() => ({ type: 'Literal', value: null })) });
    } catch (error) {
      if (/^(?:Unknown function|Invalid arity)/.test(reasonOf(error))) throw error;
    }
  }
  for (const part of Object.values(node)) checkCalls(part, search);
}

function isCall(node: object): node is Extract<Expression, { readonly type: 'Function' }> {
  return 'type' in node && node.type === 'Function' && 'name' in node && 'children' in node;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? sanitizeLine(error.message) : 'unknown reason';
}

/** An error in what is made of the result of a command: exit 1, because exit 2 would mean that nothing was sent. */
function resultError(message: string, reason?: string, hint?: string): CliError {
  const carriedOut = 'the command was carried out, and only its output is incomplete';
  return new CliError('query_failed', message, {
    detail: reason === undefined ? carriedOut : `${reason}; ${carriedOut}`,
    hint,
  });
}

/** Does what depends on the result of a command, such as finding its columns; a usage error in it is `query_failed`. */
export function ofResult<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof CliError) || error.code !== 'usage') throw error;
    throw resultError(error.message, error.detail, error.hint);
  }
}

function syntaxError(error: unknown, text: string) {
  // In double quotes the shell runs what stands in backticks, and nothing is left of it.
  const lacksLiteral = /[<>=]\s*[\])}|&,]/.test(text);
  return usageError(
    '--query is not a valid JMESPath expression',
    lacksLiteral
      ? "keep backticks from the shell with single quotes: `--query '[?id > `5`]'`"
      : 'use a form such as `--query "[?status==\'active\'].name"` (see https://jmespath.site)',
    reasonOf(error),
  );
}

// JSON can represent every value except undefined.
function isJsonValue(value: unknown): value is JSONValue {
  return value !== undefined;
}

/**
 * Creates the query of `--json FIELD,…`, which keeps only these members of one object or of each object in a list. Case, `-` and
 * `_` of a field need not be right. If the fields of the command are known, an unknown one is a usage error here, before any
 * request, and a member that an object lacks is null; otherwise a field that no object has is `query_failed`.
 * @param before the query of `--query`, which is applied first and decides about the members
 */
export function fieldSelector(
  typed: readonly string[],
  before: JmespathQuery | undefined,
  { fields, columns = [] }: Pick<CommandSpec<never>, 'fields' | 'columns'> = {},
): JmespathQuery {
  const known = before === undefined ? fields : undefined;
  if (typed.every((field) => field === '')) throw missingFieldsError(known);
  if (typed.includes('')) throw emptyNameError('json', known);
  const names = columns.map(({ name }) => name);
  const wanted = known === undefined ? typed : resolveFields(typed, known, names);
  const pick = (data: unknown): unknown => {
    const rows: readonly unknown[] = Array.isArray(data) ? data : [data];
    const objects = rows.filter(isJsonRecord);
    const members = known ?? [...new Set(objects.flatMap((one) => Object.keys(one)))];
    const picked = objects.length === 0 ? wanted : ofResult(() => resolveFields(wanted, members, names));
    const selected = rows.map((row) =>
      isJsonRecord(row)
        ? Object.fromEntries(picked.map((field) => [field, Object.hasOwn(row, field) ? (row[field] ?? null) : null]))
        : row,
    );
    return Array.isArray(data) ? selected : selected[0];
  };
  const run = (data: unknown): unknown => pick(before === undefined ? data : before(data));
  return Object.assign(run, {
    isItemwise: before?.isItemwise ?? true,
    emptyColumns: [...new Set(wanted)],
    fieldNames: before?.fieldNames ?? [],
  });
}

function resolveFields(
  typed: readonly string[],
  known: readonly string[],
  columns: readonly string[],
): readonly string[] {
  return typed.map((field) => {
    const found = findField(field, known);
    if (found === undefined) throw unknownFieldError(field, typed, known, columns);
    return found;
  });
}

/** The known field with this name, else the only one that differs from it in case, `-` and `_` alone. */
function findField(field: string, known: readonly string[]): string | undefined {
  if (known.includes(field)) return field;
  const [found, ...others] = known.filter((name) => plain(name) === plain(field));
  return others.length === 0 ? found : undefined;
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, '');
}

/** An empty name in the list of `--json` or `--format`. */
export function emptyNameError(option: 'json' | 'format', known: readonly string[] = []): CliError {
  const [one, other] = known.length > 1 ? known : option === 'json' ? ['id', 'name'] : ['ID', 'Name'];
  return usageError(
    `--${option} contains an empty name`,
    `separate names with one comma, as in \`--${option} ${one},${other}\``,
  );
}

function missingFieldsError(known: readonly string[] | undefined): CliError {
  return known === undefined
    ? usageError('--json requires fields', 'see the fields with `-o json`, and type such as `--json id,name`')
    : usageError('--json requires fields', exampleHint(known), knownFields(known));
}

function unknownFieldError(
  field: string,
  typed: readonly string[],
  known: readonly string[],
  columns: readonly string[],
): CliError {
  const column = columns.find((name) => plain(name) === plain(field));
  const meant = nearestList(typed, (name) => findField(name, known) ?? nearestWord(name, known));
  const hint =
    column !== undefined
      ? `it is a column: use \`-o json --format ${column}\``
      : meant !== undefined
        ? `did you mean \`--json ${meant.map((name) => shortenInput(name)).join(',')}\`?`
        : exampleHint(known);
  return usageError(`unknown field "${shortenInput(field)}" for --json`, hint, knownFields(known));
}

function exampleHint(known: readonly string[]): string {
  return `use known fields, such as \`--json ${known
    .slice(0, 2)
    .map((name) => shortenInput(name))
    .join(',')}\``;
}

function knownFields(known: readonly string[]): string {
  return `known fields: ${known.map((name) => shortenInput(name)).join(', ')}`;
}
