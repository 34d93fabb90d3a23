import type { SqlObjectNameWithKind } from './sql-name-context-tracker.ts';
import {
  isGivenSqlKeyword,
  isGivenSqlSymbol,
  qualifiedNameAt,
  type SqlToken,
  tokenizeSqlFunctionBody,
} from './tokenize.ts';

/**
 * The object name in a string that PostgreSQL resolves when the function runs: `nextval('a')`, `'a.b'::regclass`,
 * `regtype 'a'`, `CAST('a' AS regproc)`, `to_tsvector('a', b)`.
 */
export function readObjectNameInStringToken(
  tokens: readonly SqlToken[],
  at: number,
): SqlObjectNameWithKind | undefined {
  const token = tokens[at];
  if (token?.kind !== 'string') return undefined;
  const word = lookupOf(tokens, at) ?? '';
  const kind = kindByFunction[word] ?? kindByLaterArguments(tokens, at, word);
  const inside = tokenizeSqlFunctionBody(token.text);
  const names = qualifiedNameAt(inside, 0);
  const next = inside[names.length * 2 - 1];
  const isWhole = next === undefined || (kind === 'function' && isGivenSqlSymbol(next, '('));
  return kind === undefined || names.length === 0 || !isWhole ? undefined : { kind, names };
}

/**
 * Some functions interpret their first argument as the name of an object only if they are called with a certain number
 * of arguments.
 */
function kindByLaterArguments(
  tokens: readonly SqlToken[],
  at: number,
  word: string,
): SqlObjectNameWithKind['kind'] | undefined {
  if (!isGivenSqlSymbol(tokens[at + 1], ',')) return undefined;
  return firstOfSeveral[word] ?? (isGivenSqlSymbol(tokens[at + 3], ')') ? firstOfTwo[word] : undefined);
}

/** The function or type that resolves the name in the string. */
function lookupOf(tokens: readonly SqlToken[], at: number): string | undefined {
  const [called, before, next, type] = [tokens[at - 2], tokens[at - 1], tokens[at + 1], tokens[at + 2]];
  if (
    isGivenSqlSymbol(next, '::') ||
    (isGivenSqlKeyword(next, 'as') && isGivenSqlSymbol(before, '(') && isGivenSqlKeyword(called, 'cast'))
  ) {
    const names = qualifiedNameAt(tokens, at + 2);
    const cast = type?.kind === 'word' ? names.at(-1) : undefined;
    // In `nextval('a'::text)` the function nextval resolves the name `a`, although the string is cast to text.
    const isText =
      isGivenSqlSymbol(next, '::') && cast !== undefined && textTypes.has(cast) && isGivenSqlSymbol(before, '(');
    return isText && called?.kind === 'word' ? called.text : cast;
  }
  if (before?.kind === 'word' && before.text.startsWith('reg')) return before.text;
  // A variable of PL/pgSQL: `r regclass := 'a'`.
  const isInitialValue =
    isGivenSqlSymbol(before, ':=') || isGivenSqlSymbol(before, '=') || isGivenSqlKeyword(before, 'default');
  if (isInitialValue && called?.kind === 'word' && called.text.startsWith('reg')) return called.text;
  return isGivenSqlSymbol(before, '(') && called?.kind === 'word' && !called.text.startsWith('reg')
    ? called.text
    : undefined;
}

const textTypes: ReadonlySet<string> = new Set(['text', 'varchar', 'name', 'cstring']);

const kindByFunction: Readonly<Record<string, SqlObjectNameWithKind['kind']>> = {
  regclass: 'relation',
  to_regclass: 'relation',
  nextval: 'relation',
  currval: 'relation',
  setval: 'relation',
  pg_get_serial_sequence: 'relation',
  // The functions of PostgreSQL 10 to 18 with an argument of type regclass.
  brin_desummarize_range: 'relation',
  brin_summarize_new_values: 'relation',
  brin_summarize_range: 'relation',
  gin_clean_pending_list: 'relation',
  pg_column_is_updatable: 'relation',
  pg_get_replica_identity_index: 'relation',
  pg_index_column_has_property: 'relation',
  pg_index_has_property: 'relation',
  pg_indexes_size: 'relation',
  pg_partition_ancestors: 'relation',
  pg_partition_root: 'relation',
  pg_partition_tree: 'relation',
  pg_relation_filenode: 'relation',
  pg_relation_filepath: 'relation',
  pg_relation_is_publishable: 'relation',
  pg_relation_is_updatable: 'relation',
  pg_relation_size: 'relation',
  pg_table_size: 'relation',
  pg_total_relation_size: 'relation',
  table_to_xml: 'relation',
  table_to_xml_and_xmlschema: 'relation',
  table_to_xmlschema: 'relation',
  // Functions that look up a name given as text.
  currtid2: 'relation',
  pg_get_viewdef: 'relation',
  row_security_active: 'relation',
  pg_basetype: 'type',
  regtype: 'type',
  to_regtype: 'type',
  regproc: 'function',
  regprocedure: 'function',
  to_regproc: 'function',
  to_regprocedure: 'function',
  regconfig: 'text search configuration',
  regdictionary: 'text search dictionary',
};

/** Functions whose first argument is the name of an object only if there are several arguments. */
const firstOfSeveral: Readonly<Record<string, SqlObjectNameWithKind['kind']>> = {
  to_tsvector: 'text search configuration',
  json_to_tsvector: 'text search configuration',
  jsonb_to_tsvector: 'text search configuration',
  to_tsquery: 'text search configuration',
  plainto_tsquery: 'text search configuration',
  phraseto_tsquery: 'text search configuration',
  websearch_to_tsquery: 'text search configuration',
  ts_headline: 'text search configuration',
  ts_lexize: 'text search dictionary',
  unaccent: 'text search dictionary',
};

/** Functions whose first argument is a role if there are three arguments. */
const firstOfTwo: Readonly<Record<string, SqlObjectNameWithKind['kind']>> = {
  has_any_column_privilege: 'relation',
  has_sequence_privilege: 'relation',
  has_table_privilege: 'relation',
  has_function_privilege: 'function',
  has_type_privilege: 'type',
};
