/** Of all that one migration makes for one database: letters that a slot may have, 63 at most. */
export function replicationObjectName(migration: string, database: string): string {
  return `${objectNamePrefix}${migration
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .slice(0, 20)}_${database}`;
}

const objectNamePrefix = 'cloudctl_';

/** Of the sessions that remove things: no object has it, so that they do not end themselves. */
export const removalApplicationName = 'cloudctl-migration-removal';

/** Of the sessions that look around. */
export const engineApplicationName = 'cloudctl-migration';
