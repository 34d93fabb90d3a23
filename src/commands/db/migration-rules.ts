import type { DbSource } from '../../db/source/index.ts';

/** The rules of docs/service.md S9 that apply during a migration and after it, one line each. */
export function describeRestrictionsDuringMigration(engine: DbSource['engine']): readonly string[] {
  const rules =
    engine === 'redis'
      ? ['do not change the replication configuration of the source, or the connection between the two databases']
      : [
          'do not write to the migrated tables on the target',
          'do not change the replication configuration of the source, wal_level or max_replication_slots',
          'do not interrupt the connection between the two databases',
        ];
  return [
    'While a migration runs:',
    ...rules.map((rule) => `  ${rule}`),
    'After the migration, restore the firewall rules and trusted sources that were opened for it.',
  ];
}

/** Printed again when the migration is over, because the user may have written the undo script weeks earlier. */
export const undoScriptNote =
  'Then restore the settings of the source: run the undo script, if `db preflight --undo-sql` wrote one. Some settings change back only when the server is restarted.';
