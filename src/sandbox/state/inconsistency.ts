import type { Seed } from '../seed.ts';
import { ROW_KEYS, type RowKey, type RowLists, type State, TABLE_NAMES, type TableName } from './tables.ts';

/**
 * Describes the first duplicate key or the first reference to a missing record; undefined when the state is consistent. The
 * description contains no values, because values may be secrets.
 */
export function findInconsistency(seed: Seed, image: State): string | undefined {
  for (const name of TABLE_NAMES) {
    const duplicate = findDuplicate(name, image);
    if (duplicate !== undefined) return `${name}[${duplicate}] has the key of an earlier row`;
  }
  const accounts = new Set([...seed.people, ...seed.teams].map(({ uuid }) => uuid));
  const people = new Set(seed.people.map(({ uuid }) => uuid));
  const clients = new Set(seed.applications.map(({ clientId }) => clientId));
  const clusters = new Set(seed.clusters.map(({ uuid }) => uuid));
  const tokens = new Set(image.pairs.map(({ accessToken }) => accessToken));
  const hasOwner = (one: { readonly person: string; readonly clientId: string; readonly team?: string }): boolean =>
    people.has(one.person) && clients.has(one.clientId) && (one.team === undefined || accounts.has(one.team));
  const isAssigned = ({ id }: { readonly id: number }): boolean => id < image.nextId;
  return (
    findRow('sessions', image.sessions, ({ person }) => people.has(person), UNKNOWN_OWNER) ??
    findRow('authorizations', image.authorizations, hasOwner, UNKNOWN_OWNER) ??
    findRow('codes', image.codes, hasOwner, UNKNOWN_OWNER) ??
    findRow('pairs', image.pairs, hasOwner, UNKNOWN_OWNER) ??
    findRow('pairs', image.pairs, ({ successor }) => !successor || tokens.has(successor), 'has an unknown successor') ??
    findRow('droplets', image.droplets, ({ account }) => accounts.has(account), UNKNOWN_OWNER) ??
    findRow('droplets', image.droplets, isAssigned, UNASSIGNED_ID) ??
    findRow('actions', image.actions, isAssigned, UNASSIGNED_ID) ??
    findRow('migrations', image.migrations, ({ cluster }) => clusters.has(cluster), 'has an unknown cluster') ??
    (image.consent.mode === 'approve' && !people.has(image.consent.person) ? `consent ${UNKNOWN_OWNER}` : undefined)
  );
}

const UNKNOWN_OWNER = 'belongs to an unknown person, team or application';
const UNASSIGNED_ID = 'has an id that is not below nextId';

function findRow<T>(
  name: TableName,
  rows: readonly T[],
  isConsistent: (row: T) => boolean,
  problem: string,
): string | undefined {
  const at = rows.findIndex((row) => !isConsistent(row));
  return at === -1 ? undefined : `${name}[${at}] ${problem}`;
}

function findDuplicate<N extends TableName>(name: N, lists: RowLists): number | undefined {
  const seen = new Set<RowKey>();
  const at = lists[name].findIndex((row) => seen.size === seen.add(ROW_KEYS[name](row)).size);
  return at === -1 ? undefined : at;
}
