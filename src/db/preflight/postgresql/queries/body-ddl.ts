import { firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import { decodeText } from '../../../../postgresql/rows.ts';
import { isSqlKeyword, isSqlSymbol, isStart, type SqlToken, tokenizeBody } from '../function-body/tokenize.ts';
import type { PostgresqlQuery } from '../query.ts';
import { executedTexts, tableList } from './body-statements.ts';
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
    SELECT p.oid::regprocedure::text AS signature, p.prosrc AS body, l.lanname, t.relation
    FROM pg_proc p
    JOIN pg_language l ON l.oid = p.prolang
    LEFT JOIN (${triggers}) t ON t.tgfoid = p.oid
    WHERE p.oid >= '${firstNormalOid}'
      AND l.lanname IN ('sql', 'plpgsql')
      AND ${isNotMemberSql('pg_proc', 'p.oid')}
      AND (
        (p.prosrc ~* '\\m(create|drop|alter)\\M' AND p.prosrc ~* '\\m(table|schema|type|domain|sequence)\\M')
          OR (l.lanname = 'sql' AND p.prosrc ~* '\\mselect\\M.*\\minto\\M')
      )
    ORDER BY t.relation IS NULL, 1
  `,
  decode: (rows) =>
    rows.flatMap((row) => {
      const found = lastingDdl(decodeText(row, 'body'), row.lanname === 'sql' ? 'sql' : 'plpgsql');
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
function lastingDdl(body: string, language: 'sql' | 'plpgsql'): readonly Ddl[] {
  const all = readDdl(body, language);
  const passing = new Set(all.filter((one) => one.passing).flatMap(({ names }) => names));
  return all.filter(
    (one) => !one.passing && (creating.includes(one.verb) || one.logs || !one.names.every((name) => passing.has(name))),
  );
}

const creating = ['create', 'select'];

/** A function, and a DO in it, and a DO in that. */
const maxDepth = 3;

/** The DDL of a body, also in the strings that it executes. */
function readDdl(text: string, language: 'sql' | 'plpgsql', isBody = true, depth = 0): readonly Ddl[] {
  const tokens = tokenizeBody(text);
  const found = tokens.flatMap((_, at): readonly Ddl[] => {
    const one = isStart(tokens, at) ? statementAt(tokens, at) : undefined;
    return [one ?? (language === 'sql' ? selectIntoAt(tokens, at) : undefined) ?? []].flat();
  });
  if (depth === maxDepth) return found;
  const executed = executedTexts(tokens, isBody);
  return [...found, ...executed.flatMap((one) => readDdl(one.text, 'plpgsql', one.isBody, depth + 1))];
}

/** In SQL SELECT … INTO creates a table; in PL/pgSQL it assigns variables, and EXECUTE refuses it. */
function selectIntoAt(tokens: readonly SqlToken[], from: number): Ddl | undefined {
  const isSelect = isSqlKeyword(tokens[from], 'select') || isSqlKeyword(tokens[from], 'with');
  const isFirst = from === 0 || isSqlSymbol(tokens[from - 1], ';');
  if (!isSelect || !isFirst) return undefined;
  let depth = 0;
  for (let at = from; at < tokens.length && !isSqlSymbol(tokens[at], ';'); at += 1) {
    if (isSqlSymbol(tokens[at], '(')) depth += 1;
    if (isSqlSymbol(tokens[at], ')')) depth -= 1;
    if (depth > 0 || !isSqlKeyword(tokens[at], 'into')) continue;
    if (isSqlKeyword(tokens[at - 1], 'insert') || isSqlKeyword(tokens[at - 1], 'merge')) return undefined;
    const [kindAt, passing] = skip(tokens, at + 1, lifetimes);
    const [name] = tableList(tokens, skip(tokens, kindAt, ['table'])[0]);
    const isTemporary = name?.[0]?.startsWith('pg_temp') === true;
    return name === undefined
      ? undefined
      : {
          verb: 'select',
          kind: 'into',
          names: name.slice(-1),
          passing: passing || isTemporary,
          logs: false,
          partition: false,
        };
  }
  return undefined;
}

const lifetimes = ['global', 'local', 'temp', 'temporary', 'unlogged'];

function statementAt(tokens: readonly SqlToken[], from: number): Ddl | undefined {
  const verb = ['create', 'drop', 'alter'].find((word) => isSqlKeyword(tokens[from], word));
  if (verb === undefined) return undefined;
  const [kindAt, isPassing] = skip(tokens, from + 1, lifetimes);
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
