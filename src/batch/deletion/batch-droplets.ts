import type { Droplet } from '../../api/droplets.ts';
import { usageError } from '../../errors.ts';
import { sanitizeLine } from '../../sanitize/terminal-text.ts';
import { batchLookupTag } from '../ledger/batch-id.ts';
import type { BatchLedgerState } from '../ledger/batch-ledger-state.ts';
import { hasDropletTag } from '../lookup/droplet-tags.ts';
import {
  type DropletReadOptions,
  findDropletsByIdOrName,
  readMatchingDroplets,
} from '../lookup/find-droplets-by-id-or-name.ts';
import { type DropletToDelete, toDropletToDelete } from './deletion-rows.ts';

/** Reads the droplets whose ids the ledger contains, indexed by id. */
export async function readBatchDroplets(
  state: BatchLedgerState,
  reader: DropletReadOptions,
): Promise<ReadonlyMap<number, Droplet>> {
  const ids = [...state.rows()].flatMap((row) => ('id' in row && row.id !== undefined ? [row.id] : []));
  if (!state.batch.mark || state.batch.names.some((_, at) => state.rowAt(at).status === 'skipped'))
    return findByIds(ids, reader);
  const wanted = new Set(ids);
  const tag = batchLookupTag(state.batch);
  const tagged = await readMatchingDroplets(
    reader,
    { tag },
    (droplet) => wanted.has(droplet.id) && hasDropletTag(droplet, tag),
  );
  return new Map(tagged.map((droplet) => [droplet.id, droplet]));
}

/**
 * Finds the droplets that the batch created, with their current data on the server. A droplet that the server does not list may
 * have been deleted, or the list may be outdated; it is returned with its name from the ledger. Throws a usage error when a
 * droplet has another name than in the ledger: the ledger may have been edited, or belong to another server at the same
 * address.
 */
export async function findDropletsCreatedByBatch(
  state: BatchLedgerState,
  reader: DropletReadOptions,
): Promise<readonly DropletToDelete[]> {
  const rows = [...state.rows()].flatMap((row) => (row.status === 'created' ? [row] : []));
  if (rows.length === 0) return [];
  const listed = await readBatchDroplets(state, reader);
  const left = rows.flatMap(({ id }) => (listed.has(id) ? [] : [id]));
  // A droplet whose batch tag was removed is not in the list of droplets with that tag.
  const others = state.batch.mark && left.length > 0 ? await findByIds(left, reader) : listed;
  const found = rows.map(({ id, name }) => ({ id, name, droplet: listed.get(id) ?? others.get(id) }));
  const renamed = found.filter(
    ({ name, droplet }) => droplet !== undefined && droplet.name.toLowerCase() !== name.toLowerCase(),
  );
  if (renamed.length > 0)
    throw usageError(
      `${renamed.length === 1 ? '1 droplet has' : `${renamed.length} droplets have`} another name than in the ledger`,
      'check these droplets with `cloudctl droplets get ID`; `cloudctl droplets delete ID` deletes a droplet of any name',
      `${renamed
        .slice(0, 20)
        .map(
          ({ id, name, droplet }) => `droplet ${id} is named ${sanitizeLine(droplet?.name ?? '')} instead of ${name}`,
        )
        .join('; ')}; nothing was deleted`,
    );
  const { region } = state.batch.attributes;
  return found.map(({ id, name, droplet }) => {
    const shown = toDropletToDelete(droplet ?? { id, name, raw: {} });
    return droplet === undefined ? { ...shown, region } : shown;
  });
}

async function findByIds(ids: readonly number[], reader: DropletReadOptions): Promise<ReadonlyMap<number, Droplet>> {
  const found = await findDropletsByIdOrName(ids.map(String), reader);
  return new Map(
    [...found.values()].flatMap(({ withId }) => (withId === undefined ? [] : [[withId.id, withId] as const])),
  );
}
