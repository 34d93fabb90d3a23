import { firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import { decodeText } from '../../../../postgresql/rows.ts';
import { isSqlKeyword, isSqlSymbol, type SqlToken, tokenizeBody } from '../function-body/tokenize.ts';
import type { PostgresqlQuery } from '../query.ts';
import { tableList } from './body-statements.ts';
import { isNotMemberSql } from './catalog-predicates.ts';
import { featureCondition } from './database-overview.ts';

/** A function of a user whose body creates, alters or drops tables, schemas, types or sequences that last. */
export interface BodyDdl {
  /** The signature of the function, qualified. */
  readonly by: string;
  /** `CREATE TABLE`, each once. */
  readonly statements: readonly string[];
  /** Whether one of the tables is a partition. */
  readonly partition: boolean;
  /** A table whose trigger calls the function for an INSERT, UPDATE or DELETE; quoted and qualified. */
  readonly triggerOf?: string;
}

/** The enabled triggers for INSERT (4), DELETE (8) and UPDATE (16), by function. */
const triggers = `
  SELECT t.tgfoid, min(t.tgrelid::regclass::text) AS relation
  FROM pg_trigger t
  WHERE t.tgfoid >= '${firstNormalOid}'
    AND NOT t.tgisinternal
    AND t.tgenabled IN ('O', 'A')
    AND t.tgtype & 28 <> 0
  GROUP BY t.tgfoid
`;

export const bodyDdlQuery: PostgresqlQuery<readonly BodyDdl[]> = {
  id: 'body-ddl',
  scope: 'database',
  when: featureCondition('functions'),
  // A body of the SQL standard contains no DDL.
  sql: () => `
    SELECT p.oid::regprocedure::text AS signature, p.prosrc AS body, t.relation
    FROM pg_proc p
    JOIN pg_language l ON l.oid = p.prolang
    LEFT JOIN (${triggers}) t ON t.tgfoid = p.oid
    WHERE p.oid >= '${firstNormalOid}'
      AND l.lanname IN ('sql', 'plpgsql')
      AND ${isNotMemberSql('pg_proc', 'p.oid')}
      AND p.prosrc ~* '\\m(create|drop|alter)\\M'
      AND p.prosrc ~* '\\m(table|schema|type|domain|sequence)\\M'
    ORDER BY t.relation IS NULL, 1
  `,
  decode: (rows) =>
    rows.flatMap((row) => {
      const found = lastingDdl(decodeText(row, 'body'));
      if (found.length === 0) return [];
      return [
        {
          by: decodeText(row, 'signature'),
          statements: [...new Set(found.map(({ verb, kind }) => `${verb} ${kind}`.toUpperCase()))],
          partition: found.some(({ partition }) => partition),
          ...(typeof row.relation === 'string' ? { triggerOf: row.relation } : {}),
        },
      ];
    }),
  absent: [],
};

interface Ddl {
  readonly verb: string;
  readonly kind: string;
  /** The last parts of the names; an expression in place of a name is the text of the expression. */
  readonly names: readonly string[];
  /** Whether it creates a temporary or an unlogged table, or names the schema of temporary tables. */
  readonly passing: boolean;
  /** Whether it makes an unlogged table a permanent one. */
  readonly logs: boolean;
  readonly partition: boolean;
}

/** The DDL of a body without that of tables which the body itself creates as temporary or unlogged. */
function lastingDdl(body: string): readonly Ddl[] {
  const all = readDdl(body, true);
  const passing = new Set(all.filter((one) => one.passing).flatMap(({ names }) => names));
  return all.filter(
    (one) => !one.passing && (one.verb === 'create' || one.logs || !one.names.every((name) => passing.has(name))),
  );
}

/** A function, and a DO in it, and a DO in that. */
const maxDepth = 3;

/**
 * The DDL of a body, also in the strings that it executes. A string may be kept in a variable first, so it counts if the
 * body has an EXECUTE and the string is no argument of a statement such as RAISE.
 */
function readDdl(text: string, isBody: boolean, depth = 0): readonly Ddl[] {
  const tokens = tokenizeBody(text);
  const executes = isBody && tokens.some((token) => isSqlKeyword(token, 'execute'));
  const found: Ddl[] = [];
  let start = 0;
  for (let at = 0; at < tokens.length; at += 1) {
    if (isStart(tokens, at)) start = at;
    const token = tokens[at];
    if (token?.kind !== 'string') {
      const one = start === at ? statementAt(tokens, at) : undefined;
      if (one !== undefined) found.push(one);
    } else if (depth < maxDepth && isSqlKeyword(tokens[start], 'do')) {
      found.push(...readDdl(token.text, true, depth + 1));
    } else if (depth < maxDepth && executes && !notExecuted.some((word) => isSqlKeyword(tokens[start], word))) {
      const composed = composeAt(tokens, at);
      found.push(...readDdl(composed.text, false, depth + 1));
      at = composed.end - 1;
    }
  }
  return found;
}

const notExecuted = ['raise', 'insert', 'update', 'comment', 'if'];

function isStart(tokens: readonly SqlToken[], at: number): boolean {
  const before = tokens[at - 1];
  if (before === undefined || isSqlSymbol(before, ';') || isSqlSymbol(before, '>>')) return true;
  return before.kind === 'word' && !before.quoted && opening.has(before.text);
}

const opening: ReadonlySet<string> = new Set(['begin', 'then', 'else', 'loop']);

/**
 * The text of a string at a position with the strings that follow after `||` or in concat(), and where that ends. Expressions between
 * them, and arguments of format(), become names.
 */
function composeAt(tokens: readonly SqlToken[], from: number): { readonly text: string; readonly end: number } {
  const isCallOf = (name: string) => isSqlSymbol(tokens[from - 1], '(') && isSqlKeyword(tokens[from - 2], name);
  const parts = splitAt(tokens, from, isCallOf('concat') ? ',' : '||');
  const text = parts.found.map((part) => {
    const [first, ...more] = part;
    return first?.kind === 'string' && more.length === 0 ? first.text : nameOf(part);
  });
  if (!isCallOf('format') || !isSqlSymbol(tokens[parts.end], ',')) return { text: text.join(''), end: parts.end };
  // The arguments are not read again, because a body may be hostile: calls of format() in each other.
  const values = splitAt(tokens, parts.end + 1, ',');
  let next = 0;
  const filled = text.join('').replace(placeholder, (_, position: string | undefined) => {
    next = position === undefined ? next + 1 : Number(position);
    return nameOf(values.found[next - 1] ?? []);
  });
  return { text: filled, end: values.end };
}

/** https://www.postgresql.org/docs/current/functions-string.html#FUNCTIONS-STRING-FORMAT */
const placeholder = /%(?:(\d+)\$)?-?\d*[sIL]/g;

/** Short, because a format may repeat an argument. */
function nameOf(tokens: readonly SqlToken[]): string {
  return `_${tokens
    .slice(0, 20)
    .map(({ text }) => text.slice(0, 20).replace(/\W/g, ''))
    .join('')}_`;
}

/** The parts of an expression between separators that stand in no parentheses, and where it ends. */
function splitAt(
  tokens: readonly SqlToken[],
  from: number,
  separator: string,
): { readonly found: readonly (readonly SqlToken[])[]; readonly end: number } {
  let part: SqlToken[] = [];
  const found = [part];
  let depth = 0;
  let at = from;
  for (; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token === undefined || isSqlSymbol(token, ';')) break;
    if (depth === 0) {
      if (isSqlSymbol(token, ')') || ending.some((word) => isSqlKeyword(token, word))) break;
      if (isSqlSymbol(token, separator)) {
        part = [];
        found.push(part);
        continue;
      }
      if (isSqlSymbol(token, ',')) break;
    }
    if (isSqlSymbol(token, '(')) depth += 1;
    if (isSqlSymbol(token, ')')) depth -= 1;
    part.push(token);
  }
  return { found, end: at };
}

const ending = ['using', 'into', 'then', 'loop', 'end'];

function statementAt(tokens: readonly SqlToken[], from: number): Ddl | undefined {
  const verb = ['create', 'drop', 'alter'].find((word) => isSqlKeyword(tokens[from], word));
  if (verb === undefined) return undefined;
  const [kindAt, isPassing] = skip(tokens, from + 1, ['global', 'local', 'temp', 'temporary', 'unlogged']);
  const kind = ['table', 'schema', 'type', 'domain', 'sequence'].find((word) => isSqlKeyword(tokens[kindAt], word));
  if (kind === undefined) return undefined;
  const [nameAt] = skip(tokens, kindAt + 1, ['if', 'not', 'exists', 'only']);
  const tables = tableList(tokens, nameAt);
  const [table] = tables;
  if (table === undefined) return undefined;
  const nameEnd = nameAt + 2 * table.length - 1;
  const actionAt = isSqlSymbol(tokens[nameEnd], '*') ? nameEnd + 1 : nameEnd;
  const action = tokens.slice(actionAt, actionAt + 4);
  if (verb === 'alter' && isHarmless(kind, action)) return undefined;
  return {
    verb,
    kind,
    names: tables.flatMap((names) => names.at(-1) ?? []),
    passing: (verb === 'create' && isPassing) || tables.every(([schema = '']) => schema.startsWith('pg_temp')),
    logs: begins(action, ['set', 'logged']),
    partition: begins(action, ['partition', 'of']) || begins(action, ['attach', 'partition']),
  };
}

/** The position after the words, and whether there were any. */
function skip(tokens: readonly SqlToken[], from: number, words: readonly string[]): readonly [number, boolean] {
  let at = from;
  while (words.some((word) => isSqlKeyword(tokens[at], word))) at += 1;
  return [at, at > from];
}

/** Whether replication goes on as before after the ALTER, and the cut-over sets or compares what it changes. */
function isHarmless(kind: string, action: readonly SqlToken[]): boolean {
  if (kind === 'sequence') return !begins(action, ['rename']) && !begins(action, ['set', 'schema']);
  return (
    harmless.some((words) => begins(action, words)) ||
    (begins(action, ['set']) && isSqlSymbol(action[1], '(')) ||
    (begins(action, ['reset']) && isSqlSymbol(action[1], '('))
  );
}

const harmless = [
  ...['trigger', 'rule'].flatMap((kind) => [
    ['disable', kind],
    ['enable', kind],
    ['enable', 'always', kind],
    ['enable', 'replica', kind],
  ]),
  ['owner'],
  ['cluster'],
  ['validate'],
  ['set', 'tablespace'],
  ['set', 'without', 'cluster'],
];

function begins(tokens: readonly SqlToken[], words: readonly string[]): boolean {
  return words.every((word, at) => isSqlKeyword(tokens[at], word));
}
