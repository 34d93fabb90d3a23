import type { FunctionBody } from '../queries/function-bodies.ts';
import type { FunctionUse } from '../queries/function-uses.ts';
import type { NamedObject } from '../queries/named-objects.ts';
import type { SearchPathOperator } from '../queries/search-path-operators.ts';
import { findNameReferences, type NameReference } from './name-references.ts';
import type { Operand } from './operands.ts';

/** A name that a function resolves only with the search_path of its caller. */
export interface UnresolvedName {
  /** Signature of the function. */
  readonly signature: string;
  readonly kind: NameReference['kind'];
  readonly name: string;
  /** The object that calls the function, directly or through other functions. */
  readonly use: string;
  /** The migration fails in any case, and not only when rows are written later or a branch is taken. */
  readonly fails: boolean;
  /** It fails only with the continuous method: when a publication is created or changes are applied. */
  readonly onlyContinuous: boolean;
  /**
   * A search_path with which the function and its callees work; undefined: a name exists in several schemas, so that only
   * the owner knows which is meant.
   */
  readonly path: readonly string[] | undefined;
}

/** One for each function and its caller; those that fail in any case come first. */
export function findUnresolvedNames(
  uses: readonly FunctionUse[],
  bodies: readonly FunctionBody[],
  meanings: readonly NamedObject[],
  operators: readonly SearchPathOperator[],
): readonly UnresolvedName[] {
  const library = analyseFunctions(bodies, meanings, operators);
  const found = uses.flatMap((use) => unresolvedNamesOf(use, library));
  return [...found.filter(({ fails }) => fails), ...found.filter(({ fails }) => !fails)];
}

interface AnalysedFunction {
  readonly body: FunctionBody;
  readonly unresolved: readonly NameReference[];
  /** Calls qualified with a schema, which do not depend on the search_path. */
  readonly calls: readonly { readonly oid: string; readonly certain: boolean }[];
  /** Object ids of all called functions, qualified or not. */
  readonly reaches: readonly string[];
  /** Schemas of its names; undefined: a name exists in several schemas. */
  readonly schemas: readonly string[] | undefined;
}

type FunctionAnalysis = (oid: string) => AnalysedFunction | undefined;

/** Analyses a function body on first use, because most functions are not called here. */
function analyseFunctions(
  bodies: readonly FunctionBody[],
  meanings: readonly NamedObject[],
  operators: readonly SearchPathOperator[],
): FunctionAnalysis {
  const byOid = new Map(bodies.map((body) => [body.oid, body]));
  const byName = groupByKey(bodies, ({ schema, name, isView }) =>
    joinKey(isView ? 'relation' : 'function', schema, name),
  );
  const named = groupByKey(meanings, ({ kind, name }) => joinKey(kind, name));
  // Every relation has a row type.
  const homesOf = ({ kind, name }: Pick<NameReference, 'kind' | 'name'>) => [
    ...new Set(
      [kind, ...(kind === 'type' ? ['relation'] : [])]
        .flatMap((one) => named.get(joinKey(one, name)) ?? [])
        .map(({ schema }) => schema),
    ),
  ];
  const signs = groupByKey(operators, ({ name, left, right }) => joinKey(name, left, right));
  const read = new Map<string, AnalysedFunction>();
  return (oid) => {
    const body = byOid.get(oid);
    if (body === undefined || read.has(oid)) return read.get(oid);
    const references = findNameReferences(body.text, body.language);
    const placesOf = (reference: NameReference) => {
      if (reference.operands === undefined) return homesOf(reference);
      const [left, right] = reference.operands.map((operand) => typeOf(body, operand));
      // An entry without an operand type applies to every operand.
      const keys = [[left, right], [left], ['', right], []].map(([l = '', r = '']) => joinKey(reference.name, l, r));
      return [...new Set(keys.flatMap((one) => signs.get(one) ?? []).map(({ schema }) => schema))];
    };
    const lost = references.filter((reference) => reference.schema === undefined && placesOf(reference).length > 0);
    const calls = references.flatMap(({ kind, schema, name, certain }) => {
      const all = schema === undefined ? [] : (byName.get(joinKey(kind, schema, name)) ?? []);
      return all.map((one) => ({ oid: one.oid, certain: certain && all.length === 1 }));
    });
    const reaches = references.flatMap((reference) =>
      (reference.schema === undefined ? homesOf(reference) : [reference.schema])
        .flatMap((schema) => byName.get(joinKey(reference.kind, schema, reference.name)) ?? [])
        .map((one) => one.oid),
    );
    const homes = lost.map(placesOf);
    const entry: AnalysedFunction = {
      body,
      unresolved: lost,
      calls: [...calls, ...body.calls.map((one) => ({ oid: one, certain: true }))],
      reaches: [...reaches, ...body.calls],
      schemas: homes.every(({ length }) => length === 1) ? homes.flat() : undefined,
    };
    read.set(oid, entry);
    return entry;
  };
}

/** Empty when the type is not known. */
function typeOf({ types, names }: FunctionBody, operand: Operand | undefined): string {
  if (operand === undefined) return '';
  if ('type' in operand) return operand.type;
  const { argument } = operand;
  return types[argument.startsWith('$') ? Number(argument.slice(1)) - 1 : names.indexOf(argument)] ?? '';
}

/** Not all operators are known, so that the schema of the function and public are included. */
function pathFor(oid: string, library: FunctionAnalysis): readonly string[] | undefined {
  const homes = new Set<string>();
  const own: string[] = [];
  const seen = new Set([oid]);
  // Iterating a Set includes elements that are added during the loop.
  for (const next of seen) {
    const entry = library(next);
    if (entry === undefined || (next !== oid && hasPath(entry.body))) continue;
    if (entry.schemas === undefined) return undefined;
    for (const home of entry.schemas) homes.add(home);
    for (const one of entry.reaches) seen.add(one);
    own.push(entry.body.schema);
  }
  return [...new Set([...[...homes].sort(), ...own, 'public'])];
}

/**
 * Follows the calls from one object. A function with its own search_path ends the search, because its callees have that
 * path as well.
 */
function unresolvedNamesOf(use: FunctionUse, library: FunctionAnalysis): readonly UnresolvedName[] {
  const found: UnresolvedName[] = [];
  const seen = new Map<string, boolean>();
  const queue = [{ oid: use.calls, certain: true }];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const entry = library(next.oid);
    // Visited again when the call is certain now and was not before.
    const isKnown = seen.get(next.oid) === true || seen.get(next.oid) === next.certain;
    if (entry === undefined || hasPath(entry.body) || isKnown) continue;
    seen.set(next.oid, next.certain);
    const { certain } = next;
    const reference = entry.unresolved.find((one) => one.certain) ?? entry.unresolved[0];
    if (reference !== undefined) {
      // Creating an index or attaching a partition parses an inlined function even when the table is empty.
      const isMade = isInlined(entry.body) && next.oid === use.calls && evaluatedAtCreation.has(use.kind);
      found.push({
        signature: entry.body.signature,
        kind: reference.kind,
        name: reference.name,
        use: use.name,
        fails: certain && reference.certain && (use.filled || isMade),
        onlyContinuous: use.kind === 'trigger' || use.kind === 'event',
        path: pathFor(next.oid, library),
      });
    }
    queue.push(...entry.calls.map((call) => ({ oid: call.oid, certain: certain && call.certain })));
  }
  return found;
}

const evaluatedAtCreation: ReadonlySet<FunctionUse['kind']> = new Set(['index', 'unique', 'generated', 'partition']);

/** By a SET clause, or because its body sets one. */
function hasPath({ hasPath, text }: FunctionBody): boolean {
  return hasPath || /search_path/i.test(text);
}

/** A function with several statements is not inlined. */
function isInlined({ inlined, text }: FunctionBody): boolean {
  return inlined && !/;\s*\S/.test(text);
}

function joinKey(...parts: readonly string[]): string {
  return parts.join('\0');
}

function groupByKey<T>(all: readonly T[], keyOf: (one: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}
