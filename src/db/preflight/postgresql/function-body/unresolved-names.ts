import type { NamedObject, ObjectBody, PathOperator } from '../queries/function-bodies.ts';
import type { FunctionUse } from '../queries/function-uses.ts';
import { findReferences, type NameReference } from './names.ts';
import type { Operand } from './tokenize.ts';

/** A name in a function body that can be resolved only with the search_path of the caller. */
export interface UnresolvedName {
  /** Signature of the function that contains the name. */
  readonly signature: string;
  readonly kind: NameReference['kind'];
  readonly name: string;
  /** The object whose evaluation calls the function, directly or through other functions. */
  readonly use: string;
  /** Whether pg_catalog has an object of the name, so that the function gets another result instead of an error. */
  readonly isReplaced: boolean;
  /** Whether the migration fails in every case, not only when rows are written later or when a branch is executed. */
  readonly fails: boolean;
  /**
   * Whether the migration fails only with the continuous method: when a publication is created or changes are applied.
   */
  readonly onlyContinuous: boolean;
  /**
   * A search_path with which the function and the functions it calls work; undefined if a name exists in several
   * schemas, because only the owner knows which schema is meant.
   */
  readonly path: readonly string[] | undefined;
}

/**
 * Finds names that the empty search_path of a migration does not resolve. The result has one entry for each function
 * and its caller; entries for functions that always fail come first.
 */
export function findUnresolved(
  uses: readonly FunctionUse[],
  bodies: readonly ObjectBody[],
  meanings: readonly NamedObject[],
  operators: readonly PathOperator[],
): readonly UnresolvedName[] {
  const library = analyseFunctions(bodies, meanings, operators);
  const found = uses.flatMap((use) => unresolvedNamesOf(use, library));
  return [...found.filter(({ fails }) => fails), ...found.filter(({ fails }) => !fails)];
}

interface AnalysedFunction {
  readonly body: ObjectBody;
  readonly unresolved: readonly NameReference[];
  /** Names that mean another object with an empty search_path. */
  readonly replaced: readonly NameReference[];
  /** Function calls qualified with a schema, which do not depend on the search_path. */
  readonly calls: readonly { readonly oid: string; readonly certain: boolean }[];
  /** Object ids of all functions that the body calls, qualified or not. */
  readonly reaches: readonly string[];
  /** The schemas that contain the objects named in the function body; undefined if a name exists in several schemas. */
  readonly schemas: readonly string[] | undefined;
}

type FunctionAnalysis = (oid: string) => AnalysedFunction | undefined;

/** Analyses a function body on first use, because most functions are not called by any of the objects. */
function analyseFunctions(
  bodies: readonly ObjectBody[],
  meanings: readonly NamedObject[],
  operators: readonly PathOperator[],
): FunctionAnalysis {
  const byOid = new Map(bodies.map((body) => [body.oid, body]));
  const byName = groupByKey(bodies, ({ schema, name, isView }) =>
    joinKey(isView ? 'relation' : 'function', schema, name),
  );
  const named = groupByKey(
    meanings.filter(({ isReplaced }) => !isReplaced),
    ({ kind, name }) => joinKey(kind, name),
  );
  const overloads = groupByKey(
    meanings.filter(({ isReplaced }) => isReplaced),
    ({ kind, name }) => joinKey(kind, name),
  );
  // Every relation has a row type of the same name, so a type name can also match a relation.
  const homesOf = ({ kind, name }: Pick<NameReference, 'kind' | 'name'>) => [
    ...new Set(
      [kind, ...(kind === 'type' ? ['relation'] : [])]
        .flatMap((one) => named.get(joinKey(one, name)) ?? [])
        .map(({ schema }) => schema),
    ),
  ];
  const signKey = ({ name, left, right }: Pick<PathOperator, 'name' | 'left' | 'right'>) => joinKey(name, left, right);
  const signs = groupByKey(
    operators.filter(({ isReplaced }) => !isReplaced),
    signKey,
  );
  const replacedSigns = new Set(operators.filter(({ isReplaced }) => isReplaced).map(signKey));
  const read = new Map<string, AnalysedFunction>();
  return (oid) => {
    const body = byOid.get(oid);
    if (body === undefined || read.has(oid)) return read.get(oid);
    const references = findReferences(body.text, body.language);
    const placesOf = (reference: NameReference) => {
      if (reference.operands === undefined) return homesOf(reference);
      const [left, right] = reference.operands.map((operand) => typeOf(body, operand));
      // An operator that is known without the type of an operand applies to operands of every type.
      const keys = [[left, right], [left], ['', right], []].map(([l = '', r = '']) => joinKey(reference.name, l, r));
      return [...new Set(keys.flatMap((one) => signs.get(one) ?? []).map(({ schema }) => schema))];
    };
    const isReplaced = (reference: NameReference) => {
      if (reference.operands === undefined) {
        // An overload for a type of an extension is not meant where no value has the type.
        return (overloads.get(joinKey(reference.kind, reference.name)) ?? []).some(
          ({ types }) =>
            types.length === 0 || types.some((type) => body.types.includes(type) || body.text.includes(type)),
        );
      }
      const [left, right] = reference.operands.map((operand) => typeOf(body, operand));
      return [
        [left, right],
        [left, ''],
        ['', right],
      ].some(([l = '', r = '']) => replacedSigns.has(joinKey(reference.name, l, r)));
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
      replaced: references.filter(
        (reference) => reference.schema === undefined && !lost.includes(reference) && isReplaced(reference),
      ),
      calls: [...calls, ...body.calls.map((one) => ({ oid: one, certain: true }))],
      reaches: [...reaches, ...body.calls],
      schemas: homes.every(({ length }) => length === 1) ? homes.flat() : undefined,
    };
    read.set(oid, entry);
    return entry;
  };
}

/** The type of an operand; empty if the type is not known. */
function typeOf({ types, names }: ObjectBody, operand: Operand | undefined): string {
  if (operand === undefined) return '';
  if ('type' in operand) return operand.type;
  const { argument } = operand;
  return types[argument.startsWith('$') ? Number(argument.slice(1)) - 1 : names.indexOf(argument)] ?? '';
}

/** Not all operators are known, so the schema of the function and public are added to the search_path. */
function pathFor(oid: string, library: FunctionAnalysis): readonly string[] | undefined {
  const homes = new Set<string>();
  const own: string[] = [];
  const seen = new Set([oid]);
  // The loop over a Set also visits elements that are added during the loop.
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
 * Follows the function calls from one object. The search ends at a function that sets its own search_path, because the
 * functions it calls have the same search_path.
 */
function unresolvedNamesOf(use: FunctionUse, library: FunctionAnalysis): readonly UnresolvedName[] {
  const found: UnresolvedName[] = [];
  const seen = new Map<string, boolean>();
  const queue = [{ oid: use.calls, certain: true }];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const entry = library(next.oid);
    // A function is analyzed again if this call is always executed and the earlier call was not.
    const isKnown = seen.get(next.oid) === true || seen.get(next.oid) === next.certain;
    if (entry === undefined || hasPath(entry.body) || isKnown) continue;
    seen.set(next.oid, next.certain);
    const { certain } = next;
    const reference = entry.unresolved.find((one) => one.certain) ?? entry.unresolved[0];
    if (reference !== undefined) {
      // CREATE INDEX and ATTACH PARTITION parse an inlined function even when the table is empty.
      const isMade = isInlined(entry.body) && next.oid === use.calls && evaluatedAtCreation.has(use.kind);
      found.push({
        signature: entry.body.signature,
        kind: reference.kind,
        name: reference.name,
        use: use.name,
        isReplaced: false,
        fails: certain && reference.certain && (use.filled || isMade),
        onlyContinuous: use.kind === 'trigger' || use.kind === 'event',
        path: pathFor(next.oid, library),
      });
    }
    const [replaced] = entry.replaced;
    if (replaced !== undefined) {
      const { signature } = entry.body;
      const { kind, name } = replaced;
      const more = { isReplaced: true, fails: false, onlyContinuous: false, path: undefined };
      found.push({ signature, kind, name, use: use.name, ...more });
    }
    queue.push(...entry.calls.map((call) => ({ oid: call.oid, certain: certain && call.certain })));
  }
  return found;
}

const evaluatedAtCreation: ReadonlySet<FunctionUse['kind']> = new Set(['index', 'unique', 'generated', 'partition']);

/** Whether the function sets a search_path, in a SET clause or in its body. */
function hasPath({ hasPath, text }: ObjectBody): boolean {
  return hasPath || /search_path/i.test(text);
}

/** PostgreSQL does not inline a function with several statements. */
function isInlined({ inlined, text }: ObjectBody): boolean {
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

/** A relation that a function body names; a name without a schema stands for every relation with that name. */
export type RelationRead = Pick<NameReference, 'schema' | 'name' | 'certain'>;

export interface FunctionReads {
  readonly reads: readonly RelationRead[];
  /** The body of the function, and the bodies of the functions and views that it uses. */
  readonly bodies: readonly ObjectBody[];
}

/**
 * The relations that a function reads, directly and through the functions and views that it uses. Only relations that
 * are named in the body of one of these functions are found.
 */
export function createRelationReader(bodies: readonly ObjectBody[]): (oid: string) => FunctionReads {
  const byOid = new Map(bodies.map((body) => [body.oid, body]));
  const byName = new Map<string, ObjectBody[]>();
  for (const body of bodies) byName.set(body.name, [...(byName.get(body.name) ?? []), body]);
  const known = new Map<string, readonly NameReference[]>();
  const named = (oid: string): readonly NameReference[] => {
    const body = byOid.get(oid);
    const found =
      known.get(oid) ?? (body === undefined ? [] : findReferences(`${body.text} ${body.bound}`, body.language));
    known.set(oid, found);
    return found;
  };
  const called = ({ kind, schema, name }: NameReference): readonly ObjectBody[] =>
    kind !== 'function' && kind !== 'relation'
      ? []
      : (byName.get(name) ?? []).filter(
          (one) => one.isView === (kind === 'relation') && (schema === undefined || one.schema === schema),
        );
  return (oid) => {
    const reached = new Set([oid]);
    const reads: RelationRead[] = [];
    // The loop over a Set also visits elements that are added during the loop.
    for (const one of reached) {
      for (const reference of named(one)) {
        if (reference.kind === 'relation') reads.push(reference);
        for (const body of called(reference)) reached.add(body.oid);
      }
      for (const next of byOid.get(one)?.calls ?? []) reached.add(next);
    }
    return { reads, bodies: [...reached].flatMap((one) => byOid.get(one) ?? []) };
  };
}
