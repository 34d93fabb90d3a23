/**
 * Name of all objects of one migration in one database. Slot names allow lower-case letters, digits and underscores, 63
 * characters.
 */
export function replicationObjectName(migration: string, database: string): string {
  return `${objectNamePrefix}${migration
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .slice(0, 20)}_${database}`;
}

const objectNamePrefix = 'cloudctl_';

/**
 * application_name of sessions that remove objects. It differs from object names, so these sessions do not terminate
 * themselves.
 */
export const removalApplicationName = 'cloudctl-migration-removal';

/** application_name of sessions that only read. */
export const engineApplicationName = 'cloudctl-migration';
