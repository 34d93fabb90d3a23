import { type SchemaObjectDefinition, schemaObjectKinds } from './schema-object-definition.ts';

export type SchemaObjectDependency = readonly [from: string, to: string];

export type SchemaObjectOrderOrCycle =
  | { readonly kind: 'ordered'; readonly parts: readonly SchemaObjectDefinition[] }
  /** These parts depend on each other. */
  | { readonly kind: 'circle'; readonly parts: readonly SchemaObjectDefinition[] };

/**
 * Sorts the parts of a schema so that each part follows those it depends on. Independent parts are sorted by kind and
 * name, so that the same schema gives the same statements. A dependency on an object that is not a part is satisfied
 * already: the object belongs to the server or an extension.
 * @param pieces catalog entries that are created with another entry; a dependency on such an entry is a dependency on
 * the other
 */
export function orderSchemaObjects(
  parts: readonly SchemaObjectDefinition[],
  dependencies: readonly SchemaObjectDependency[],
  pieces: readonly SchemaObjectDependency[],
): SchemaObjectOrderOrCycle {
  const owningPartOf = createSchemaPartLookup(new Set(parts.map(({ id }) => id)), new Map(pieces));
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
export function createSchemaPartLookup(ids: ReadonlySet<string>, pieces: ReadonlyMap<string, string>) {
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
  parts: readonly SchemaObjectDefinition[],
  dependencyIds: ReadonlyMap<string, ReadonlySet<string>>,
): SchemaObjectOrderOrCycle {
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
  const done: SchemaObjectDefinition[] = [];
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

function byKindAndName(one: SchemaObjectDefinition, other: SchemaObjectDefinition): number {
  const kind = schemaObjectKinds.indexOf(one.kind) - schemaObjectKinds.indexOf(other.kind);
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
