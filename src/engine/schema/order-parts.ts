import { partKinds, type SchemaPart } from './schema-part.ts';

export type DependencyPair = readonly [from: string, to: string];

export type PartOrder =
  | { readonly kind: 'ordered'; readonly parts: readonly SchemaPart[] }
  /** These need each other, so none of them can be the first. */
  | { readonly kind: 'circle'; readonly parts: readonly SchemaPart[] };

/**
 * Each part after those it needs; where nothing decides, by kind and name, so that the same schema always gives the same
 * statements. What is needed and is no part is there already: it belongs to the server or to an extension.
 * @param pieces entries that come with another one, so that who needs the piece needs the whole
 */
export function orderParts(
  parts: readonly SchemaPart[],
  dependencies: readonly DependencyPair[],
  pieces: readonly DependencyPair[],
): PartOrder {
  const whole = createContainerLookup(new Set(parts.map(({ id }) => id)), new Map(pieces));
  const needs = new Map(parts.map(({ id, needs }) => [id, new Set(needs.flatMap((need) => whole(need) ?? []))]));
  for (const [from, to] of dependencies) {
    const [upper, lower] = [whole(from), whole(to)];
    if (upper !== undefined && lower !== undefined) needs.get(upper)?.add(lower);
  }
  for (const [id, set] of needs) set.delete(id);
  return sortTopologically([...parts].sort(byKindAndName), needs);
}

/** Follows pieces to the part they belong to; undefined: it is none. */
export function createContainerLookup(ids: ReadonlySet<string>, pieces: ReadonlyMap<string, string>) {
  return (id: string): string | undefined => {
    let at: string | undefined = id;
    // An array of the row of a table is three entries deep; the bound is for a catalogue that is broken.
    for (let step = 0; step < 8 && at !== undefined; step++) {
      if (ids.has(at)) return at;
      at = pieces.get(at);
    }
    return undefined;
  };
}

/** Takes, again and again, the first part of the list that needs nothing more. */
function sortTopologically(parts: readonly SchemaPart[], needs: ReadonlyMap<string, ReadonlySet<string>>): PartOrder {
  const rank = new Map(parts.map(({ id }, at) => [id, at]));
  const open = parts.map(({ id }) => needs.get(id)?.size ?? 0);
  const users = new Map<string, number[]>();
  for (const [id, set] of needs) {
    for (const need of set) users.set(need, [...(users.get(need) ?? []), rank.get(id)!]);
  }
  const ready = createHeap();
  open.forEach((count, at) => {
    if (count === 0) ready.add(at);
  });
  const done: SchemaPart[] = [];
  for (let at = ready.take(); at !== undefined; at = ready.take()) {
    done.push(parts[at]!);
    for (const user of users.get(parts[at]!.id) ?? []) {
      open[user]! -= 1;
      if (open[user] === 0) ready.add(user);
    }
  }
  if (done.length === parts.length) return { kind: 'ordered', parts: done };
  return { kind: 'circle', parts: parts.filter((_, at) => open[at]! > 0) };
}

function byKindAndName(one: SchemaPart, other: SchemaPart): number {
  const kind = partKinds.indexOf(one.kind) - partKinds.indexOf(other.kind);
  if (kind !== 0) return kind;
  if (one.name !== other.name) return one.name < other.name ? -1 : 1;
  return one.id < other.id ? -1 : 1;
}

interface Heap {
  add(value: number): void;
  /** The smallest. */
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
