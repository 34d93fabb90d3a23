/** The names that migration engines give to their publications. */
export function isMigrationPublication(name: string): boolean {
  return /^(aiven_db_migrate_|cloudctl_)/.test(name);
}
