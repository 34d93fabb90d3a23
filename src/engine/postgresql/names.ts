/** Of all that one migration makes for one database: letters that a slot may have, 63 at most. */
export function objectName(migration: string, database: string): string {
  return `${prefix}${migration
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .slice(0, 20)}_${database}`;
}

const prefix = 'cloudctl_';

/** Of the sessions that remove things: no object has it, so that they do not end themselves. */
export const removalName = 'cloudctl-migration-removal';

/** Of the sessions that look around. */
export const watchName = 'cloudctl-migration';
