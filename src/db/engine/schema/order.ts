import { firstNormalOid } from '../../../postgresql/catalog-oids.ts';
import { catalogName, objectKinds, type SchemaObject } from './object.ts';

export type Dependency = readonly [from: string, to: string];

type Ordered =
  | { readonly kind: 'ordered'; readonly parts: readonly SchemaObject[] }
  /** These parts depend on each other. */
  | { readonly kind: 'circle'; readonly parts: readonly SchemaObject[] };

/**
 * Sorts the parts of a schema so that each part follows those it depends on. Independent parts are sorted by kind and
 * name, so that the same schema gives the same statements. A dependency on an object that is not a part is satisfied
 * already: the object belongs to the server or an extension.
 * @param pieces catalog entries that are created with another entry; a dependency on such an entry is a dependency on
 * the other
 */
export function orderObjects(
  parts: readonly SchemaObject[],
  dependencies: readonly Dependency[],
  pieces: readonly Dependency[],
): Ordered {
  const owningPartOf = partLookup(new Set(parts.map(({ id }) => id)), new Map(pieces));
  const dependencyIds = new Map(
    parts.map(({ id, dependsOn }) => [id, new Set(dependsOn.flatMap((need) => owningPartOf(need) ?? []))]),
  );
  for (const [from, to] of dependencies) {
    const [upper, lower] = [owningPartOf(from), owningPartOf(to)];
    if (upper !== undefined && lower !== undefined) dependencyIds.get(upper)?.add(lower);
  }
  for (const [id, set] of dependencyIds) set.delete(id);
  return sortTopologically([...parts].sort(byKindAndName), dependencyIds);
}

/** Returns a function that finds the part which creates a catalog entry; its result is undefined if no part does. */
export function partLookup(ids: ReadonlySet<string>, pieces: ReadonlyMap<string, string>) {
  return (id: string): string | undefined => {
    let at: string | undefined = id;
    // The array type of the row type of a table is three steps away from the table. The number of steps is limited
    // because of corrupt catalogs.
    for (let step = 0; step < 8 && at !== undefined; step++) {
      if (ids.has(at)) return at;
      at = pieces.get(at);
    }
    return undefined;
  };
}

/**
 * Kahn's algorithm: repeatedly takes the first part in the list whose dependencies are all taken, until no part is
 * left.
 */
function sortTopologically(
  parts: readonly SchemaObject[],
  dependencyIds: ReadonlyMap<string, ReadonlySet<string>>,
): Ordered {
  const rank = new Map(parts.map(({ id }, at) => [id, at]));
  const open = parts.map(({ id }) => dependencyIds.get(id)?.size ?? 0);
  const dependents = new Map<string, number[]>();
  for (const [id, set] of dependencyIds) {
    for (const need of set) dependents.set(need, [...(dependents.get(need) ?? []), rank.get(id)!]);
  }
  const ready = createHeap();
  open.forEach((count, at) => {
    if (count === 0) ready.add(at);
  });
  const done: SchemaObject[] = [];
  for (let at = ready.take(); at !== undefined; at = ready.take()) {
    done.push(parts[at]!);
    for (const user of dependents.get(parts[at]!.id) ?? []) {
      open[user]! -= 1;
      if (open[user] === 0) ready.add(user);
    }
  }
  if (done.length === parts.length) return { kind: 'ordered', parts: done };
  return { kind: 'circle', parts: parts.filter((_, at) => open[at]! > 0) };
}

function byKindAndName(one: SchemaObject, other: SchemaObject): number {
  const kind = objectKinds.indexOf(one.kind) - objectKinds.indexOf(other.kind);
  if (kind !== 0) return kind;
  if (one.name !== other.name) return one.name < other.name ? -1 : 1;
  return one.id < other.id ? -1 : 1;
}

interface Heap {
  add(value: number): void;
  /** Removes and returns the smallest value of the heap. */
  take(): number | undefined;
}

function createHeap(): Heap {
  const values: number[] = [];
  const swap = (one: number, other: number) => {
    [values[one], values[other]] = [values[other]!, values[one]!];
  };
  return {
    add(value) {
      values.push(value);
      for (let at = values.length - 1; at > 0; ) {
        const up = (at - 1) >> 1;
        if (values[up]! <= values[at]!) return;
        swap(at, up);
        at = up;
      }
    },
    take() {
      if (values.length === 0) return undefined;
      swap(0, values.length - 1);
      const least = values.pop();
      for (let at = 0; ; ) {
        const [left, right] = [2 * at + 1, 2 * at + 2];
        let low = left < values.length && values[left]! < values[at]! ? left : at;
        if (right < values.length && values[right]! < values[low]!) low = right;
        if (low === at) return least;
        swap(at, low);
        at = low;
      }
    },
  };
}

/**
 * Dependencies from pg_depend: `piece` needs `whole`. The query leaves out owners of sequences, which are set later,
 * and foreign keys of partitions, which are created with those of their parents.
 */
export const dependenciesQuery = `SELECT ${catalogName('d.classid')} || ':' || d.objid AS piece, ${catalogName('d.refclassid')} || ':' || d.refobjid AS whole
  FROM pg_depend d WHERE d.objid >= ${firstNormalOid} AND d.refobjid >= ${firstNormalOid} AND d.deptype NOT IN ('e', 'P', 'S')
    AND NOT (d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
      AND (SELECT relkind FROM pg_class WHERE oid = d.objid) IN ('S', 'i', 'I'))
    AND NOT (d.classid = 'pg_constraint'::regclass AND (SELECT conparentid FROM pg_constraint WHERE oid = d.objid) <> 0
      AND (SELECT contype FROM pg_constraint WHERE oid = d.objid) = 'f')`;

/** Catalog entries that are created together with another one: the entry `piece` is created together with `whole`. */
export const containedEntriesQuery = `SELECT piece, whole FROM (
  SELECT 'pg_type:' || t.oid, CASE WHEN t.typrelid <> 0 AND c.relkind <> 'c' THEN 'pg_class:' || c.oid
      ELSE 'pg_type:' || t.typelem END
    FROM pg_type t LEFT JOIN pg_class c ON c.oid = t.typrelid
    WHERE t.oid >= ${firstNormalOid} AND (c.relkind <> 'c' OR t.typcategory = 'A')
  UNION ALL SELECT 'pg_class:' || typrelid, 'pg_type:' || t.oid
    FROM pg_type t JOIN pg_class c ON c.oid = typrelid AND c.relkind = 'c' WHERE t.oid >= ${firstNormalOid}
  UNION ALL SELECT 'pg_class:' || conindid, 'pg_constraint:' || oid FROM pg_constraint WHERE contype IN ('p', 'u', 'x')
  UNION ALL SELECT 'pg_rewrite:' || oid, 'pg_class:' || ev_class FROM pg_rewrite
    WHERE oid >= ${firstNormalOid} AND rulename = '_RETURN'
  UNION ALL SELECT 'pg_attrdef:' || d.oid, 'pg_class:' || d.adrelid
    FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum AND a.attgenerated <> ''
  UNION ALL SELECT 'pg_constraint:' || oid, CASE WHEN conrelid = 0 THEN 'pg_type:' || contypid ELSE 'pg_class:' || conrelid END
    FROM pg_constraint WHERE contype = 'n' OR (contype = 'c' AND NOT conislocal) OR (contype = 'f' AND conparentid <> 0)
  UNION ALL SELECT 'pg_constraint:' || tgconstraint, 'pg_trigger:' || t.oid
    FROM pg_trigger t JOIN pg_constraint k ON k.oid = tgconstraint AND k.contype = 't'
  UNION ALL SELECT 'pg_class:' || objid, 'pg_class:' || refobjid FROM pg_depend
    WHERE classid = 'pg_class'::regclass AND refclassid = 'pg_class'::regclass AND deptype = 'i' AND refobjsubid > 0
  UNION ALL SELECT ${catalogName('classid')} || ':' || objid, 'pg_extension:' || refobjid FROM pg_depend WHERE deptype = 'e'
) AS p(piece, whole)`;

/** Since PostgreSQL 14, each range type has a multirange type. */
export const multirangesQuery = `SELECT 'pg_type:' || rngmultitypid AS piece, 'pg_type:' || rngtypid AS whole FROM pg_range WHERE rngtypid >= ${firstNormalOid}`;
