import { firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import { decodeText } from '../../../../postgresql/rows.ts';
import {
  isSqlKeyword,
  isSqlSymbol,
  isStart,
  qualifiedNameAt,
  type SqlToken,
  tokenizeBody,
} from '../function-body/tokenize.ts';
import type { PostgresqlQuery } from '../query.ts';
import { isMemberSql, isNotMemberSql } from './catalog-predicates.ts';
import { featureCondition } from './database-overview.ts';

/** A statement in the body of a function of a user that changes or removes rows of a table. */
export interface BodyStatement {
  /** The signature of the function, qualified. */
  readonly by: string;
  readonly verb: 'update' | 'delete' | 'merge' | 'upsert' | 'truncate';
  /** The table, not quoted: with its schema, or its name alone. A part that EXECUTE composes has `unknownPart`. */
  readonly table: readonly string[];
}

export const bodyStatementsQuery: PostgresqlQuery<readonly BodyStatement[]> = {
  id: 'body-statements',
  scope: 'database',
  when: featureCondition('functions'),
  sql: (version) => {
    const body = version < 140_000 ? 'p.prosrc' : 'coalesce(pg_get_function_sqlbody(p.oid), p.prosrc)';
    return `
      SELECT b.signature, b.body
      FROM (
        SELECT p.oid::regprocedure::text AS signature, ${body} AS body
        FROM pg_proc p
        JOIN pg_language l ON l.oid = p.prolang
        WHERE p.oid >= '${firstNormalOid}'
          AND l.lanname IN ('sql', 'plpgsql')
          AND ${isNotMemberSql('pg_proc', 'p.oid')}
        UNION ALL
        ${refintTriggers}
      ) b
      WHERE b.body ~* '\\m(update|delete|merge|truncate)\\M'
      ORDER BY 1
    `;
  },
  decode: (rows) =>
    rows.flatMap((row) => {
      const by = decodeText(row, 'signature');
      const found = new Map(findStatements(decodeText(row, 'body')).map((one) => [JSON.stringify(one), one]));
      return [...found.values()].map((one) => ({ by, ...one }));
    }),
  absent: [],
};

/**
 * check_foreign_key of the extension refint has its tables in the arguments of the trigger, after the number of tables, the
 * action and the columns of the key; a column that is taken for a table does no harm.
 */
const refintTriggers = `
  SELECT
    'trigger ' || quote_ident(t.tgname) || ' on ' || t.tgrelid::regclass,
    (
      SELECT string_agg('delete from ' || x.argument, ' ')
      FROM regexp_split_to_table(encode(t.tgargs, 'escape'), '\\\\000') WITH ORDINALITY x(argument, at)
      WHERE x.at > 2
    )
  FROM pg_trigger t
  JOIN pg_proc p ON p.oid = t.tgfoid
  WHERE p.proname = 'check_foreign_key'
    AND t.tgenabled <> 'D'
    AND encode(t.tgargs, 'escape') !~* '^[0-9]+[\\\\]000restrict'
    AND ${isMemberSql('pg_proc', 'p.oid')}
`;

/**
 * Returns a function that finds the statements that may name a table, whose name is quoted and qualified. A database may
 * have a hundred thousand tables and as many functions, so statements are looked up by the last part of the name, or by
 * its constant beginning and the schema; of those with the same beginning a few are enough.
 */
export function statementsByTable(all: readonly BodyStatement[]): (name: string) => readonly BodyStatement[] {
  const byName = new Map<string, BodyStatement[]>();
  for (const one of all) {
    const last = one.table.at(-1) ?? '';
    const schema = one.table.at(-2) ?? '';
    const beginning = beginningOf(last);
    const key =
      beginning === undefined ? last : beginningKey(beginningOf(schema) === undefined ? schema : '', beginning);
    const known = byName.get(key);
    if (known === undefined) byName.set(key, [one]);
    else if (beginning === undefined || known.length < fewStatements) known.push(one);
  }
  return (name) => {
    const parts = byName.size === 0 ? [] : qualifiedNameAt(tokenizeBody(name), 0);
    const last = parts.at(-1) ?? '';
    const found = (byName.get(last) ?? []).filter(({ table }) =>
      table.every((part, at) => {
        const named = parts[parts.length - table.length + at];
        const beginning = beginningOf(part);
        return beginning === undefined ? part === named : named?.startsWith(beginning) === true;
      }),
    );
    const schemas = byName.size === 0 ? [] : ['', parts.at(-2) ?? ''];
    const beginnings = Array.from({ length: last.length + 1 }, (_, length) => last.slice(0, length));
    const composed = schemas.flatMap((schema) =>
      beginnings.flatMap((beginning) => byName.get(beginningKey(schema, beginning)) ?? []),
    );
    return composed.length === 0 ? found : [...found, ...composed];
  };
}

/** Returns a function that finds the functions whose TRUNCATE may empty the table that a foreign key refers to. */
export function functionsThatEmpty(
  all: readonly BodyStatement[],
): (key: { readonly emptiedWith: readonly string[] }) => readonly string[] {
  const emptying = statementsByTable(all.filter(({ verb }) => verb === 'truncate'));
  return ({ emptiedWith }) => emptiedWith.flatMap((table) => emptying(table).map(({ by }) => by));
}

const fewStatements = 20;

function beginningKey(schema: string, beginning: string): string {
  return `${schema}${unknownPart}${beginning}`;
}

/** The text before the expression in a name that is composed; undefined for another name. */
function beginningOf(name = ''): string | undefined {
  const at = name.indexOf(unknownPart);
  return at < 0 ? undefined : name.slice(0, at);
}

type Statement = Omit<BodyStatement, 'by'>;

/** The statements of a body, also those in its strings, and in the texts that EXECUTE composes of them. */
function findStatements(text: string, isBody = true, depth = 0): readonly Statement[] {
  const tokens = tokenizeBody(text);
  let added: readonly string[] | undefined;
  const found = tokens.flatMap((token, at): readonly Statement[] => {
    if (token.kind === 'string') return depth > 1 ? [] : findStatements(token.text, false, depth + 1);
    if (isSqlKeyword(token, 'truncate')) {
      return truncatedTables(tokens, afterWords(tokens, at + 1, ['table'])).map((table) => ({
        verb: 'truncate',
        table,
      }));
    }
    if (isSqlKeyword(token, 'insert') && isSqlKeyword(tokens[at + 1], 'into')) [added] = tableList(tokens, at + 2);
    if (isSqlKeyword(token, 'do') && isSqlKeyword(tokens[at + 1], 'update') && added !== undefined)
      return [{ verb: 'upsert', table: added }];
    for (const [verb, next] of verbs) {
      if (!isSqlKeyword(token, verb) || (next !== undefined && !isSqlKeyword(tokens[at + 1], next))) continue;
      const [table] = tableList(tokens, next === undefined ? at + 1 : at + 2);
      const isClause = verb === 'update' && clauseWords.some((word) => isSqlKeyword(tokens[at - 1], word));
      if (table !== undefined && !isClause) return [{ verb, table }];
    }
    return [];
  });
  if (depth > 1) return found;
  return [...found, ...executedTexts(tokens, isBody).flatMap((one) => findStatements(one.text, one.isBody, depth + 1))];
}

const verbs = [
  ['update', undefined],
  ['delete', 'from'],
  ['merge', 'into'],
] as const;

/** FOR UPDATE, FOR NO KEY UPDATE, DO UPDATE SET, ON UPDATE, BEFORE UPDATE. */
const clauseWords = ['for', 'key', 'do', 'on', 'before', 'after', 'or', 'of'];

/**
 * The tables of a TRUNCATE that may empty a table to which a foreign key refers: of one known table alone it fails without
 * CASCADE.
 */
function truncatedTables(tokens: readonly SqlToken[], from: number): readonly (readonly string[])[] {
  const tables = tableList(tokens, from);
  const end = tokens.findIndex((token, at) => at > from && isSqlSymbol(token, ';'));
  const isCascading = tokens.slice(from, end < 0 ? undefined : end).some((token) => isSqlKeyword(token, 'cascade'));
  const isKnown = tables.every((table) => table.every((part) => beginningOf(part) === undefined));
  return isCascading || tables.length > 1 || !isKnown ? tables : [];
}

function afterWords(tokens: readonly SqlToken[], from: number, words: readonly string[]): number {
  return words.some((word) => isSqlKeyword(tokens[from], word)) ? from + 1 : from;
}

/** The tables of a list such as `ONLY a.b, c *`. */
export function tableList(tokens: readonly SqlToken[], from: number): readonly (readonly string[])[] {
  const tables: (readonly string[])[] = [];
  for (let at = from; ; at += 1) {
    at = afterWords(tokens, at, ['only']);
    const table = qualifiedNameAt(tokens, at);
    if (table.length === 0) return tables;
    tables.push(table);
    at += 2 * table.length - 1;
    if (isSqlSymbol(tokens[at], '*')) at += 1;
    if (!isSqlSymbol(tokens[at], ',')) return tables;
  }
}

/**
 * The texts that a body executes: DO, and the strings of a body with an EXECUTE, unless they are arguments of a statement
 * such as RAISE. A string may be kept in a variable first.
 */
export function executedTexts(
  tokens: readonly SqlToken[],
  isBody: boolean,
): readonly { readonly text: string; readonly isBody: boolean }[] {
  const executes = isBody && tokens.some((token) => isSqlKeyword(token, 'execute'));
  const found: { readonly text: string; readonly isBody: boolean }[] = [];
  let start = 0;
  for (let at = 0; at < tokens.length; at += 1) {
    if (isStart(tokens, at)) start = at;
    const token = tokens[at];
    if (token?.kind !== 'string') continue;
    if (isSqlKeyword(tokens[start], 'do')) found.push({ text: token.text, isBody: true });
    else if (executes && !notExecuted.some((word) => isSqlKeyword(tokens[start], word))) {
      const composed = composeAt(tokens, at);
      found.push({ text: composed.text, isBody: false });
      at = composed.end - 1;
    }
  }
  return found;
}

const notExecuted = ['raise', 'insert', 'update', 'comment', 'if'];

/**
 * The text of a string at a position with the strings that follow after `||` or in concat(), and where that ends. Expressions
 * between them, and arguments of format(), become names that begin with `unknownPart`.
 */
function composeAt(tokens: readonly SqlToken[], from: number): { readonly text: string; readonly end: number } {
  const isCallOf = (name: string) => isSqlSymbol(tokens[from - 1], '(') && isSqlKeyword(tokens[from - 2], name);
  const parts = splitAt(tokens, from, isCallOf('concat') ? ',' : '||');
  const text = parts.found.map((part) => {
    const [first, ...more] = part;
    return first?.kind === 'string' && more.length === 0 ? first.text : nameOf(part);
  });
  // A format may be kept in a variable first, so its arguments are not known.
  if (!isCallOf('format') || !isSqlSymbol(tokens[parts.end], ','))
    return { text: text.join('').replace(placeholder, unknownPart), end: parts.end };
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

/** A constant, or a name for an expression. Short, because a format may repeat an argument. */
function nameOf(tokens: readonly SqlToken[]): string {
  const [first] = tokens;
  if (first?.kind === 'string' && tokens.length === 1) return first.text.slice(0, 63);
  return `${unknownPart}${tokens
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

/** Begins the name that stands for an expression in a composed text: a letter for private use, which no name has. */
const unknownPart = '\ue000';
