import { formatBytes } from '../../../../base/text.ts';
import { failOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { migrationRoleQuery, roleSettingsQuery } from '../queries/roles.ts';
import { settingsQuery } from '../queries/settings.ts';
import { effectiveSettings, parseSize, roleSettingFix } from '../settings.ts';
import type { PostgresqlFacts } from '../source-facts.ts';

/** Bytes that pg_dump sorts even in an empty database: the descriptions of built-in objects. */
const minimumSort = 640 * 1024;

/** Bytes that a table with few columns adds to a sort of pg_dump. */
const sortPerTable = 1536;

export const tempFileLimitCheck = declareServerCheck({
  id: 'temp-file-limit',
  title: 'temp_file_limit and work_mem are sufficient for pg_dump',
  headline: 'temp_file_limit is too low for pg_dump',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { settings: settingsQuery, roleSettings: roleSettingsQuery, role: migrationRoleQuery },
  evaluate({ settings, roleSettings, role }, facts) {
    const limits = effectiveSettings('temp_file_limit', settings, roleSettings, facts, '-1');
    const memory = new Map(
      effectiveSettings('work_mem', settings, roleSettings, facts, '4MB').map(({ database, value }) => [
        database,
        value,
      ]),
    );
    const tight = limits.flatMap((one) => {
      const limit = parseSize(one.value, 'kB') ?? -1;
      if (limit < 0) return [];
      const work = parseSize(memory.get(one.database) ?? '', 'kB') ?? 0;
      return [{ ...one, limit, work, room: Math.max(limit, work), sorted: sortedIn(facts, one.database) }];
    });
    const [worst] = tight.toSorted((a, b) => a.room / a.sorted - b.room / b.sorted);
    if (worst === undefined) return passOutcome('unlimited');
    const observed = `temp_file_limit ${formatBytes(worst.limit)}, work_mem ${formatBytes(worst.work)}`;
    if (worst.room >= 4 * worst.sorted) return passOutcome(observed);
    const more = {
      required: 'temp_file_limit -1',
      detail: `A sort that exceeds work_mem uses a temporary file. pg_dump sorts at least ${formatBytes(worst.sorted)} of the catalogs of ${worst.database}: "temporary file size exceeds temp_file_limit". After this error neither the schema nor the list of tables can be read.`,
      // Only a superuser can set temp_file_limit, unlike a timeout.
      fix: { ...roleSettingFix('temp_file_limit', '-1', tight, role), by: 'a superuser' },
    };
    const failing = tight.filter(({ room, sorted }) => room < sorted);
    if (failing.length === 0) return warnOutcome(observed, more);
    return failOutcome(['continuous', 'dump'], observed, { ...more, only: failing.map(({ database }) => database) });
  },
});

function sortedIn({ copy }: PostgresqlFacts, database: string): number {
  return Math.max(minimumSort, (copy?.perDatabase.get(database)?.tables ?? 0) * sortPerTable);
}
