import type { Droplet } from '../../api/droplets.ts';
import { isSafeDropletId } from '../../api/droplets.ts';
import type { ListView } from '../../cli/columns.ts';
import { CliError } from '../../errors.ts';
import { isJsonRecord, readStringField } from '../../json.ts';
import type { SingleDropletDeletionResult } from './delete-droplet-by-id.ts';

/** A droplet to delete, with the fields that are shown before the deletion. */
export interface DropletToDelete {
  readonly id: number;
  readonly name: string;
  readonly region?: string | undefined;
  /** ISO 8601. */
  readonly created_at?: string | undefined;
}

export type DropletDeletionRow = DropletToDelete & SingleDropletDeletionResult;

/** The columns that identify a droplet in the confirmation and in `--dry-run`. */
export const dropletToDeleteListView: ListView<DropletToDelete> = {
  columns: [
    { name: 'ID', value: (row) => row.id },
    { name: 'Name', value: (row) => row.name },
    { name: 'Region', value: (row) => row.region },
    { name: 'CreatedAt', value: (row) => row.created_at },
  ],
};

export const dropletDeletionListView: ListView<DropletDeletionRow> = {
  columns: [
    { name: 'ID', value: (row) => row.id },
    { name: 'Name', value: (row) => row.name },
    { name: 'Status', value: (row) => row.status },
    { name: 'Error', value: (row) => (row.status === 'deleted' ? undefined : row.error) },
    { name: 'Region', value: (row) => row.region, extra: true },
    { name: 'CreatedAt', value: (row) => row.created_at, extra: true },
    { name: 'AlreadyGone', value: (row) => row.status === 'deleted' && row.already_gone === true, extra: true },
  ],
};

/**
 * Selects the fields of a droplet that are shown before the deletion. Throws for a droplet whose id is not exact, because the
 * rounded id could belong to another droplet.
 */
export function toDropletToDelete({ id, name, raw }: Droplet): DropletToDelete {
  if (!isSafeDropletId(id) || id < 1)
    throw new CliError('api_error', `cannot delete the droplet "${name}": its id is not a whole number below 2^53`, {
      detail: `the server returned the id ${id}`,
    });
  const region = isJsonRecord(raw.region) ? readStringField(raw.region, 'slug') : undefined;
  return { id, name, region, created_at: readStringField(raw, 'created_at') };
}
