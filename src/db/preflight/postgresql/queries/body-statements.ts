import { firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import { decodeText } from '../../../../postgresql/rows.ts';
import { isSqlKeyword, isSqlSymbol, qualifiedNameAt, type SqlToken, tokenizeBody } from '../function-body/tokenize.ts';
import type { PostgresqlQuery } from '../query.ts';
import { isNotMemberSql } from './catalog-predicates.ts';
import { featureCondition } from './database-overview.ts';

/** A statement in the body of a function of a user that changes or removes rows of a table. */
export interface BodyStatement {
  /** The signature of the function, qualified. */
  readonly by: string;
  readonly verb: 'update' | 'delete' | 'merge' | 'truncate';
  /** The table, not quoted: with its schema, or its name alone. */
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
      ) b
      WHERE b.body ~* '\\m(update|delete|merge|truncate)\\M'
      ORDER BY 1
    `;
  },
  decode: (rows) =>
    rows.flatMap((row) => {
      const by = decodeText(row, 'signature');
      return findStatements(decodeText(row, 'body')).map((found) => ({ by, ...found }));
    }),
  absent: [],
};

/**
 * Returns a function that finds the statements that may name a table, whose name is quoted and qualified. A database may
 * have a hundred thousand tables and as many functions, so statements are looked up by the last part of the name.
 */
export function statementsByTable(all: readonly BodyStatement[]): (name: string) => readonly BodyStatement[] {
  const byName = new Map<string | undefined, BodyStatement[]>();
  for (const one of all) {
    const name = one.table.at(-1);
    const known = byName.get(name);
    if (known === undefined) byName.set(name, [one]);
    else known.push(one);
  }
  return (name) => {
    const parts = byName.size === 0 ? [] : qualifiedNameAt(tokenizeBody(name), 0);
    const found = byName.get(parts.at(-1)) ?? [];
    return found.filter(({ table }) => table.every((part, at) => part === parts[parts.length - table.length + at]));
  };
}

type Statement = Omit<BodyStatement, 'by'>;

/** The statements of a body, also those in the string constants of EXECUTE. */
function findStatements(body: string, depth = 0): readonly Statement[] {
  const tokens = tokenizeBody(body);
  return tokens.flatMap((token, at): readonly Statement[] => {
    if (token.kind === 'string') return depth > 1 ? [] : findStatements(token.text, depth + 1);
    if (isSqlKeyword(token, 'truncate')) {
      return tableList(tokens, afterWords(tokens, at + 1, ['table'])).map((table) => ({ verb: 'truncate', table }));
    }
    for (const [verb, next] of verbs) {
      if (!isSqlKeyword(token, verb) || (next !== undefined && !isSqlKeyword(tokens[at + 1], next))) continue;
      const [table] = tableList(tokens, next === undefined ? at + 1 : at + 2);
      const isClause = verb === 'update' && clauseWords.some((word) => isSqlKeyword(tokens[at - 1], word));
      if (table !== undefined && !isClause) return [{ verb, table }];
    }
    return [];
  });
}

const verbs = [
  ['update', undefined],
  ['delete', 'from'],
  ['merge', 'into'],
] as const;

/** FOR UPDATE, FOR NO KEY UPDATE, DO UPDATE SET, ON UPDATE, BEFORE UPDATE. */
const clauseWords = ['for', 'key', 'do', 'on', 'before', 'after', 'or', 'of'];

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
