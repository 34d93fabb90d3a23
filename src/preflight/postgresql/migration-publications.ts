/** As the engines of migrations name them. */
export function isMigrationPublication(name: string): boolean {
  return /^(aiven_db_migrate_|cloudctl_)/.test(name);
}
