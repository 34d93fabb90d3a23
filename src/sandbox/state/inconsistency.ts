import type { SeedData } from '../seed-data.ts';
import type { RowKey } from './state-table.ts';
import { ROW_KEYS, type RowLists, TABLE_NAMES, type TableName, type WorldImage } from './world-image.ts';

/** The first thing that does not fit together, in words; undefined when everything does. Values that may be secret are not told. */
export function findInconsistency(seed: SeedData, image: WorldImage): string | undefined {
  for (const name of TABLE_NAMES) {
    const twice = repeated(name, image);
    if (twice !== undefined) return `${name}[${twice}] has the key of an earlier one`;
  }
  const accounts = new Set([...seed.people, ...seed.teams].map(({ uuid }) => uuid));
  const people = new Set(seed.people.map(({ uuid }) => uuid));
  const clients = new Set(seed.applications.map(({ clientId }) => clientId));
  const clusters = new Set(seed.clusters.map(({ uuid }) => uuid));
  const tokens = new Set(image.pairs.map(({ accessToken }) => accessToken));
  const owner = (one: { readonly person: string; readonly clientId: string; readonly team?: string }): boolean =>
    people.has(one.person) && clients.has(one.clientId) && (one.team === undefined || accounts.has(one.team));
  return (
    first('sessions', image.sessions, ({ person }) => people.has(person), 'belongs to nobody') ??
    first('authorizations', image.authorizations, owner, 'belongs to nobody') ??
    first('codes', image.codes, owner, 'belongs to nobody') ??
    first('pairs', image.pairs, owner, 'belongs to nobody') ??
    first(
      'pairs',
      image.pairs,
      ({ successor = '' }) => successor === '' || tokens.has(successor),
      'has lost its successor',
    ) ??
    first('droplets', image.droplets, ({ account }) => accounts.has(account), 'belongs to nobody') ??
    first('droplets', image.droplets, ({ id }) => id < image.nextId, 'has an id that is still to be given') ??
    first('actions', image.actions, ({ id }) => id < image.nextId, 'has an id that is still to be given') ??
    first('migrations', image.migrations, ({ cluster }) => clusters.has(cluster), 'leads into no cluster') ??
    (image.consent.mode === 'approve' && !people.has(image.consent.person) ? 'consent is given by nobody' : undefined)
  );
}

function first<T>(name: TableName, rows: readonly T[], isFit: (row: T) => boolean, what: string): string | undefined {
  const at = rows.findIndex((row) => !isFit(row));
  return at === -1 ? undefined : `${name}[${at}] ${what}`;
}

function repeated<N extends TableName>(name: N, lists: RowLists): number | undefined {
  const seen = new Set<RowKey>();
  const at = lists[name].findIndex((row) => seen.size === seen.add(ROW_KEYS[name](row)).size);
  return at === -1 ? undefined : at;
}
