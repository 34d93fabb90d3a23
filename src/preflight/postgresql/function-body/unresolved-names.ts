import type { FunctionBody } from '../queries/function-bodies.ts';
import type { FunctionUse } from '../queries/function-uses.ts';
import type { NamedObject } from '../queries/named-objects.ts';
import type { SearchPathOperator } from '../queries/search-path-operators.ts';
import { findNameReferences, type NameReference } from './name-references.ts';
import type { Operand } from './operands.ts';

/** A name that a function can find only by the search_path of whoever calls it. */
export interface UnresolvedName {
  /** Of the function. */
  readonly signature: string;
  readonly kind: NameReference['kind'];
  readonly name: string;
  /** What calls the function, itself or through others. */
  readonly use: string;
  /** The copy fails for certain, and not only when rows come, or when a branch is taken. */
  readonly fails: boolean;
  /** Only where a publication is made and changes are applied, and in no dump. */
  readonly onlyContinuous: boolean;
  /**
   * A search_path that serves the function and what it calls, which will have it as well; undefined: a name is in several
   * schemas, so that only a person knows.
   */
  readonly path: readonly string[] | undefined;
}

/** One for each function and what calls it, those that fail first. */
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
  /** With a schema, so that they are found without a search_path. */
  readonly calls: readonly { readonly oid: string; readonly certain: boolean }[];
  /** Of all calls, those that need the search_path as well. */
  readonly reaches: readonly string[];
  /** Where its names are; undefined: one is in several schemas. */
  readonly schemas: readonly string[] | undefined;
}

type FunctionAnalysis = (oid: string) => AnalysedFunction | undefined;

/** Reads a text when it is first asked for: most are called by nothing here. */
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
  // Every relation is a type, too.
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
    const mentions = findNameReferences(body.text, body.language);
    const placesOf = (mention: NameReference) => {
      if (mention.operands === undefined) return homesOf(mention);
      const [left, right] = mention.operands.map((operand) => typeOf(body, operand));
      // What is lost beside anything is lost beside this.
      const keys = [[left, right], [left], ['', right], []].map(([l = '', r = '']) => joinKey(mention.name, l, r));
      return [...new Set(keys.flatMap((one) => signs.get(one) ?? []).map(({ schema }) => schema))];
    };
    const lost = mentions.filter((mention) => mention.schema === undefined && placesOf(mention).length > 0);
    const calls = mentions.flatMap(({ kind, schema, name, certain }) => {
      const all = schema === undefined ? [] : (byName.get(joinKey(kind, schema, name)) ?? []);
      return all.map((one) => ({ oid: one.oid, certain: certain && all.length === 1 }));
    });
    const reaches = mentions.flatMap((mention) =>
      (mention.schema === undefined ? homesOf(mention) : [mention.schema])
        .flatMap((schema) => byName.get(joinKey(mention.kind, schema, mention.name)) ?? [])
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

/** Empty where it is not known. */
function typeOf({ types, names }: FunctionBody, operand: Operand | undefined): string {
  if (operand === undefined) return '';
  if ('type' in operand) return operand.type;
  const { argument } = operand;
  return types[argument.startsWith('$') ? Number(argument.slice(1)) - 1 : names.indexOf(argument)] ?? '';
}

/** Not all operators are told, so that the places where they usually are belong to it. */
function pathFor(oid: string, library: FunctionAnalysis): readonly string[] | undefined {
  const homes = new Set<string>();
  const own: string[] = [];
  const seen = new Set([oid]);
  // A set is walked with what is added meanwhile.
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

/** Follows the calls of one use. A function with a search_path of its own ends the way: what it calls has that path as well. */
function unresolvedNamesOf(use: FunctionUse, library: FunctionAnalysis): readonly UnresolvedName[] {
  const found: UnresolvedName[] = [];
  const seen = new Map<string, boolean>();
  const queue = [{ oid: use.calls, certain: true }];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const entry = library(next.oid);
    // Once more where it is certain now and was not before.
    const isKnown = seen.get(next.oid) === true || seen.get(next.oid) === next.certain;
    if (entry === undefined || hasPath(entry.body) || isKnown) continue;
    seen.set(next.oid, next.certain);
    const { certain } = next;
    const mention = entry.unresolved.find((one) => one.certain) ?? entry.unresolved[0];
    if (mention !== undefined) {
      // The index of a table without rows is made all the same, and a partition attached, and the text of the function is read then.
      const isMade = isInlined(entry.body) && next.oid === use.calls && evaluatedAtCreation.has(use.kind);
      found.push({
        signature: entry.body.signature,
        kind: mention.kind,
        name: mention.name,
        use: use.name,
        fails: certain && mention.certain && (use.filled || isMade),
        onlyContinuous: use.kind === 'trigger' || use.kind === 'event',
        path: pathFor(next.oid, library),
      });
    }
    queue.push(...entry.calls.map((call) => ({ oid: call.oid, certain: certain && call.certain })));
  }
  return found;
}

const evaluatedAtCreation: ReadonlySet<FunctionUse['kind']> = new Set(['index', 'unique', 'generated', 'partition']);

/** By itself, or because its text sets one. */
function hasPath({ hasPath, text }: FunctionBody): boolean {
  return hasPath || /search_path/i.test(text);
}

/** Of several statements none is put in the place of the call. */
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
