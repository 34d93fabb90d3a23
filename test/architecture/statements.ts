import { parse } from 'libpg-query';
import { isJsonRecord } from '../../src/base/json.ts';

/**
 * What a statement of ours must not do, because the server would run code of a user: name a relation that is not a catalog, or
 * call a function that runs casts, queries in a text, or functions of a schema other than pg_catalog. Rejects when the text is no
 * SQL.
 */
export async function userCodeIn(sql: string): Promise<readonly string[]> {
  const tree = await parse(sql);
  const relations = new Set<string>();
  const local = new Set<string>();
  const calls = new Set<string>();
  const copied = new Set<unknown>();
  visit(tree, (kind, node) => {
    if (kind === 'CommonTableExpr') local.add(String(node.ctename));
    // COPY of a relation is not planned; a COPY of a query is visited with its tables.
    if (kind === 'CopyStmt' && node.is_from !== true && node.is_program !== true) copied.add(node.relation);
    if (kind === 'RangeVar' && !copied.has(node)) relations.add(qualified(node.schemaname, node.relname));
    if (kind === 'FuncCall' && Array.isArray(node.funcname)) calls.add(node.funcname.map(textOf).join('.'));
  });
  return [
    ...[...relations].filter((name) => !local.has(name) && !isCatalog(name)).map((name) => `names ${name}`),
    ...[...calls].filter(runsUserCode).map((name) => `calls ${name}`),
  ].sort();
}

/** Views of information_schema and catalogs; a role cannot create a schema whose name begins with pg_. */
function isCatalog(name: string): boolean {
  return /^(pg_catalog\.|information_schema\.)?pg_[a-z0-9_]+$/.test(name) || name.startsWith('information_schema.');
}

/** Functions that call a cast to json, run a query of their argument, or evaluate anything. Reading a file runs nothing. */
const forbidden =
  /^(to_jsonb?|row_to_json|array_to_json|jsonb?_(agg|object_agg|build_array|build_object)\w*|jsonb?_populate_\w+|\w+_to_xml\w*|xmlforest|ts_stat|ts_rewrite|dblink\w*|lo_import|lo_export|nextval|currval|lastval)$/;

function runsUserCode(name: string): boolean {
  const [first, ...others] = name.split('.');
  const isQualified = others.length > 0 && first !== 'pg_catalog';
  return isQualified || forbidden.test(others.at(-1) ?? first ?? '');
}

function qualified(schema: unknown, name: unknown): string {
  return schema === undefined ? String(name) : `${schema}.${name}`;
}

function textOf(node: unknown): string {
  return isJsonRecord(node) && isJsonRecord(node.String) ? String(node.String.sval) : '';
}

/** Calls `see` for each node of the tree, outer ones first. A RangeVar is a field without its kind in some nodes. */
function visit(value: unknown, see: (kind: string, node: Readonly<Record<string, unknown>>) => void): void {
  if (Array.isArray(value)) for (const one of value) visit(one, see);
  if (!isJsonRecord(value)) return;
  for (const [kind, node] of Object.entries(value)) {
    if (isJsonRecord(node)) see('relname' in node && 'relpersistence' in node ? 'RangeVar' : kind, node);
    visit(node, see);
  }
}
