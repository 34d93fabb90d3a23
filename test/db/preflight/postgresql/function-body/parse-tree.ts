import { parse, parsePlPgSQL } from 'libpg-query';
import { isJsonRecord } from '../../../../../src/base/json.ts';

/** What a function body refers to, by PostgreSQL's own grammar (libpg-query), each as `schema.name` or `name`, sorted. */
export interface ParsedReferences {
  readonly relations: readonly string[];
  readonly functions: readonly string[];
  readonly types: readonly string[];
  readonly operators: readonly string[];
}

/** References in a body of LANGUAGE sql. */
export async function parseSqlBody(body: string): Promise<ParsedReferences> {
  const found = emptyReferences();
  await collectFromStatements(body, found);
  return sorted(found);
}

/** References in a body of LANGUAGE plpgsql; strings that EXECUTE runs are parsed as well. */
export async function parsePlpgsqlBody(body: string): Promise<ParsedReferences> {
  const found = emptyReferences();
  const result = /\breturn (query|next)\b/i.test(body) ? 'SETOF int' : 'int';
  const text = `CREATE FUNCTION f() RETURNS ${result} LANGUAGE plpgsql AS $oracle$${body}$oracle$`;
  const tree: unknown = await parsePlPgSQL(text);
  const expressions: Expression[] = [];
  visit(tree, (kind, node) => {
    if (kind === 'PLpgSQL_expr') expressions.push({ query: String(node.query), mode: Number(node.parseMode) });
    if (kind === 'PLpgSQL_type' && typeof node.typname === 'string') addDeclaredType(node.typname, found);
    if (kind === 'PLpgSQL_stmt_dynexecute' && isJsonRecord(node.query) && isJsonRecord(node.query.PLpgSQL_expr)) {
      const constant = /^\s*'((?:[^']|'')*)'\s*$/.exec(String(node.query.PLpgSQL_expr.query))?.[1];
      if (constant !== undefined) expressions.push({ query: constant.replaceAll("''", "'"), mode: statementMode });
    }
  });
  for (const { query, mode } of expressions) await collectFromStatements(toStatement(query, mode), found);
  return sorted(found);
}

/** RawParseMode in PostgreSQL's src/include/parser/parser.h: an expression is 2, an assignment 3 and above. */
interface Expression {
  readonly query: string;
  readonly mode: number;
}

const statementMode = 0;

function toStatement(query: string, mode: number): string {
  if (mode === statementMode) return query;
  return `SELECT ${mode === 2 ? query : query.replace(/^.*?:?=/s, '')}`;
}

type Collected = Record<keyof ParsedReferences, Set<string>>;

function emptyReferences(): Collected {
  return { relations: new Set(), functions: new Set(), types: new Set(), operators: new Set() };
}

function sorted(found: Collected): ParsedReferences {
  const list = (names: ReadonlySet<string>) => [...names].sort();
  return {
    relations: list(found.relations),
    functions: list(found.functions),
    types: list(found.types),
    operators: list(found.operators),
  };
}

async function collectFromStatements(text: string, found: Collected): Promise<void> {
  const tree: unknown = await parse(text);
  const commonTables = new Set<string>();
  visit(tree, (kind, node) => {
    if (kind === 'CommonTableExpr') commonTables.add(String(node.ctename));
  });
  visit(tree, (kind, node) => {
    if (kind === 'RangeVar' || isTargetRelation(node)) addRelation(node, commonTables, found);
    // EXTRACT, SUBSTRING … FROM and the like have a syntax of their own and the format COERCE_SQL_SYNTAX.
    if ((kind === 'FuncCall' || kind === 'funccall') && node.funcformat === 'COERCE_EXPLICIT_CALL') {
      const name = qualifiedName(node.funcname);
      if (!name.startsWith('pg_catalog.')) found.functions.add(name);
      const [argument] = Array.isArray(node.args) ? node.args : [];
      addNamed(relationByFunction.has(name) ? 'regclass' : '', argument, found);
    }
    if (kind === 'TypeCast' && isJsonRecord(node.typeName)) {
      const name = qualifiedName(node.typeName.names);
      if (!name.startsWith('pg_catalog.')) found.types.add(name);
      addNamed(name, node.arg, found);
    }
    if (kind === 'CaseExpr' && node.arg !== undefined) found.operators.add('=');
    if (kind === 'A_Expr' && operatorKinds.has(String(node.kind))) {
      const name = qualifiedName(node.name);
      if (!name.includes('.')) found.operators.add(name);
    }
  });
}

const operatorKinds: ReadonlySet<string> = new Set([
  'AEXPR_OP',
  'AEXPR_OP_ANY',
  'AEXPR_OP_ALL',
  'AEXPR_IN',
  'AEXPR_LIKE',
  'AEXPR_ILIKE',
  'AEXPR_DISTINCT',
  'AEXPR_NOT_DISTINCT',
  'AEXPR_NULLIF',
]);
const relationByFunction: ReadonlySet<string> = new Set(['nextval', 'currval', 'setval', 'pg_get_serial_sequence']);

/** INSERT, UPDATE, DELETE and MERGE hold their target without the tag `RangeVar`. */
function isTargetRelation(node: Readonly<Record<string, unknown>>): boolean {
  return typeof node.relname === 'string' && typeof node.relpersistence === 'string';
}

function addRelation(node: Readonly<Record<string, unknown>>, known: ReadonlySet<string>, found: Collected): void {
  const name = String(node.relname);
  if (node.schemaname === undefined && known.has(name)) return;
  found.relations.add(node.schemaname === undefined ? name : `${String(node.schemaname)}.${name}`);
}

/** `'orders'::regclass` refers to a relation although it is a string. */
function addNamed(type: string, argument: unknown, found: Collected): void {
  const kind = ({ regclass: 'relations', regtype: 'types', regproc: 'functions' } as const)[
    type.replace('pg_catalog.', '')
  ];
  const constant = isJsonRecord(argument) && isJsonRecord(argument.A_Const) ? argument.A_Const.sval : undefined;
  if (kind !== undefined && isJsonRecord(constant)) found[kind].add(unquoted(String(constant.sval)));
}

/** `t%ROWTYPE` and `t.a%TYPE` refer to the relation `t`. */
function addDeclaredType(type: string, found: Collected): void {
  const row = /^(.*)%rowtype$/i.exec(type)?.[1];
  const column = /^(.*)\.[^.]*%type$/i.exec(type)?.[1];
  if (row !== undefined || column !== undefined) found.relations.add(unquoted(row ?? column ?? ''));
  else if (/^[\w".]+$/.test(type)) found.types.add(unquoted(type));
}

function unquoted(name: string): string {
  return name.replace(
    /"([^"]*)"|([^".]+)/g,
    (_, quoted?: string, plain?: string) => quoted ?? (plain ?? '').toLowerCase(),
  );
}

function qualifiedName(names: unknown): string {
  const parts = Array.isArray(names) ? names : [];
  return parts
    .map((part) => (isJsonRecord(part) && isJsonRecord(part.String) ? String(part.String.sval) : ''))
    .join('.');
}

/** Calls back for every object of the tree, with the key it stands under. */
function visit(node: unknown, take: (kind: string, node: Readonly<Record<string, unknown>>) => void, kind = ''): void {
  if (Array.isArray(node)) for (const entry of node) visit(entry, take, kind);
  else if (isJsonRecord(node)) {
    take(kind, node);
    for (const [key, value] of Object.entries(node)) visit(value, take, key);
  }
}
