import { countOf } from '../../../base/text.ts';
import { failOutcome, type PreflightCheckOutcome, passOutcome, unknownOutcome, warnOutcome } from '../../finding.ts';
import { declareDatabasePreflightCheck } from '../check.ts';
import { buildIncompleteScanOutcome } from '../deep/get-row-scan-or-check-outcome.ts';
import type { UnreadTable } from '../deep/scanned-row-statistics.ts';
import { buildUnlistedObjectsNote, limitFindingObjects } from '../listed-objects.ts';
import { type DatabaseStorageDamage, storageDamageQuery } from '../queries/storage-damage.ts';

export const damagedStorageCheck = declareDatabasePreflightCheck({
  id: 'damaged-storage',
  title: 'no table has lost its file, and no page failed its checksum',
  headline: 'The storage of the database is damaged',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { damage: storageDamageQuery },
  readsRows: true,
  evaluate({ damage }, database, { scans }) {
    if (damage.missing.length > 0) return missingFiles(damage);
    const scan = scans?.get(database);
    const damaged = scan?.unread.filter(({ reason }) => reason === 'damaged') ?? [];
    if (damaged.length > 0) return damagedRows(damaged);
    if (damage.checksumFailures === 0) return passOutcome('none');
    const isComplete = scan !== undefined && buildIncompleteScanOutcome(scan) === undefined;
    return isComplete ? failedElsewhere(damage) : failedChecksums(damage);
  },
});

function damagedRows(damaged: readonly UnreadTable[]): PreflightCheckOutcome {
  return failOutcome(['continuous', 'dump'], `${countOf(damaged.length, 'table')} with damaged rows`, {
    headline: 'Rows of a table are damaged',
    required: 'rows that the server can read',
    detail: `Reading stopped at the first damaged row, so there may be more. The copy stops there on every attempt.${buildUnlistedObjectsNote(damaged)}`,
    objects: limitFindingObjects(damaged).map(({ table, message }) => `${table} (${message})`),
    fix: {
      by: 'the operator of the server',
      text: 'Restore the table from a backup or a standby. Before rows are given up (zero_damaged_pages, pg_surgery), copy the data directory.',
    },
  });
}

function failedElsewhere({ checksumFailures, lastFailure }: DatabaseStorageDamage): PreflightCheckOutcome {
  return warnOutcome(
    `${countOf(checksumFailures, 'checksum failure')}, the last at ${lastFailure}; every row was read`,
    {
      headline: 'Pages failed their checksum, and the rows of all tables can be read',
      required: 'no checksum failures',
      detail: 'The damaged page is in an index, a system catalog or a large object, or it was repaired since.',
      fix: {
        by: 'the operator of the server',
        text: 'The log of the server names the relation and the block. If the relation is an index, rebuild it (REINDEX).',
      },
    },
  );
}

function missingFiles({ missing }: DatabaseStorageDamage): PreflightCheckOutcome {
  const lost = [...new Set(missing.flatMap(({ tablespace }) => tablespace ?? []))];
  const where = lost.length === 0 ? '' : ` The directory of tablespace ${lost.join(', ')} does not exist.`;
  return failOutcome(['continuous', 'dump'], `${countOf(missing.length, 'relation')} without a file`, {
    headline: 'The file of a table is missing',
    required: 'a file for every table, TOAST table and sequence',
    detail: `Every read of a table without its file fails, so the rows of the table cannot be copied: "could not open file "${missing[0]!.path}": No such file or directory".${where}${buildUnlistedObjectsNote(missing)}`,
    objects: limitFindingObjects(missing).map(({ relation, path }) => `${relation} (${path})`),
    fix: {
      by: 'the operator of the server',
      text: 'Make the missing files available again (mount the volume, or correct the link in pg_tblspc), or restore the files from a backup. Drop tables that are not needed.',
    },
  });
}

function failedChecksums({ checksumFailures, lastFailure }: DatabaseStorageDamage): PreflightCheckOutcome {
  return {
    ...unknownOutcome(`${countOf(checksumFailures, 'checksum failure')}, the last at ${lastFailure}`),
    premise: 'no damaged page in a table, or all damaged pages repaired',
    settledBy: '--deep',
    headline: 'Pages of the database failed their checksum',
    required: 'no checksum failures',
    detail:
      'A damaged page of a table ends the copy on every attempt: "invalid page in block … of relation …". The server does not record which relation had the page: it may be an index, which is not copied, and the page may have been repaired since. --deep reads every row.',
    fix: {
      by: 'the operator of the server',
      text: 'The log of the server names the relation and the block. Restore a damaged table from a backup or a standby, and rebuild a damaged index with REINDEX. pg_checksums --check finds all damaged pages of a stopped server.',
    },
  };
}
