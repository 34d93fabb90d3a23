/**
 * The name that all objects of one migration have in one database. It holds the id, by which `db watch` knows its slot. Slot names allow lower-case letters, digits and
 * underscores, 63 characters.
 */
export function replicationName(migration: string, database: string): string {
  return `${objectNamePrefix}${migration
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .slice(0, 40)}_${database}`;
}

const objectNamePrefix = 'cloudctl_';

/**
 * application_name of sessions that remove objects. The application_name differs from object names, so that sessions
 * which remove objects do not terminate themselves.
 */
export const removalName = 'cloudctl-migration-removal';

/** application_name of sessions that only read. */
export const engineName = 'cloudctl-migration';
