export interface DropletNamePositions {
  /** The index of the first occurrence of the name in the list; -1 if the list does not contain the name. */
  readonly positionOf: (name: string) => number;
  /** Names that occur more than once in the list; each is returned once. */
  readonly repeated: readonly string[];
}

/**
 * Indexes the names of a list with eight bytes per name, where a Map would need seventy, because a batch may have a million
 * names.
 */
export function indexDropletNamePositions(names: readonly string[]): DropletNamePositions {
  const slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * names.length + 2))).fill(-1);
  const repeated = new Set<string>();
  /** The slot of the hash table that contains the name, or the free slot for it. */
  const find = (name: string): number => {
    let slot = hash(name) & (slots.length - 1);
    for (let at = slots[slot] ?? -1; at !== -1 && names[at] !== name; at = slots[slot] ?? -1)
      slot = (slot + 1) & (slots.length - 1);
    return slot;
  };
  for (let at = 0; at < names.length; at++) {
    const name = names[at] ?? '';
    const slot = find(name);
    if (slots[slot] === -1) slots[slot] = at;
    else repeated.add(name);
  }
  /** The index expected at the next lookup, because most callers look names up in the order of the list. */
  let next = 0;
  const positionOf = (name: string): number => {
    const at = repeated.size === 0 && names[next] === name ? next : (slots[find(name)] ?? -1);
    next = at + 1;
    return at;
  };
  return { positionOf, repeated: [...repeated] };
}

/**
 * FNV-1a hash (https://datatracker.ietf.org/doc/draft-eastlake-fnv/) with an additional mixing step, because the table uses the
 * low bits.
 */
function hash(name: string): number {
  let state = 0x811c9dc5;
  for (let at = 0; at < name.length; at++) state = Math.imul(state ^ name.charCodeAt(at), 0x01000193);
  return (state ^ (state >>> 15)) >>> 0;
}
