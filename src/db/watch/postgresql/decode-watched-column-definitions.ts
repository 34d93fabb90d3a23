import type { WatchedColumnDefinition } from './server-facts.ts';

/**
 * Decodes columns from `[name, type, not null]`, the form in which the catalog query and the baseline file contain them.
 * Entries of another form are left out.
 */
export function decodeWatchedColumnDefinitions(json: unknown): readonly WatchedColumnDefinition[] {
  if (!Array.isArray(json)) return [];
  return json.flatMap((one: unknown) => {
    if (!Array.isArray(one)) return [];
    const [name, type, notNull] = one;
    return typeof name === 'string' && typeof type === 'string' ? [{ name, type, notNull: notNull === true }] : [];
  });
}

export function encodeWatchedColumnDefinitions(columns: readonly WatchedColumnDefinition[]): readonly unknown[] {
  return columns.map(({ name, type, notNull }) => [name, type, notNull]);
}
