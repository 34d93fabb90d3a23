import { type CheckOutcome, fail, pass, unknown } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { firstListedObjects, unlistedNote } from '../object-list.ts';
import { type StorageDamage, storageDamageQuery } from '../queries/storage-damage.ts';
import { pluralize } from '../units.ts';

export const damagedStorageCheck = databaseCheck({
  id: 'damaged-storage',
  title: 'no table has lost its file, and no page failed its checksum',
  headline: 'The storage of the database is damaged',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { damage: storageDamageQuery },
  evaluate({ damage }) {
    if (damage.missing.length > 0) return missingFiles(damage);
    return damage.checksumFailures > 0 ? failedChecksums(damage) : pass('none');
  },
});

function missingFiles({ missing }: StorageDamage): CheckOutcome {
  const lost = [...new Set(missing.flatMap(({ tablespace }) => tablespace ?? []))];
  const where = lost.length === 0 ? '' : ` The directory of tablespace ${lost.join(', ')} does not exist.`;
  return fail(['continuous', 'dump'], `${pluralize(missing.length, 'relation')} without a file`, {
    headline: 'The file of a table is missing',
    required: 'a file for every table, TOAST table and sequence',
    detail: `Every read of a table without its file fails, so the rows of the table cannot be copied: "could not open file "${missing[0]!.path}": No such file or directory".${where}${unlistedNote(missing)}`,
    objects: firstListedObjects(missing).map(({ relation, path }) => `${relation} (${path})`),
    fix: {
      by: 'the operator of the server',
      text: 'Make the missing files available again (mount the volume, or correct the link in pg_tblspc), or restore the files from a backup. Drop tables that are not needed.',
    },
  });
}

function failedChecksums({ checksumFailures, lastFailure }: StorageDamage): CheckOutcome {
  return {
    ...unknown(`${pluralize(checksumFailures, 'checksum failure')}, the last at ${lastFailure}`),
    premise: 'no damaged page in a table, or all damaged pages repaired',
    headline: 'Pages of the database failed their checksum',
    required: 'no checksum failures',
    detail:
      'A damaged page of a table ends the copy on every attempt: "invalid page in block … of relation …". The server does not record which relation had the page: it may be an index, which is not copied, and the page may have been repaired since. An operator can read every row on the source: pg_dumpall >/dev/null',
    fix: {
      by: 'the operator of the server',
      text: 'The log of the server names the relation and the block. Restore a damaged table from a backup or a standby, and rebuild a damaged index with REINDEX. pg_checksums --check finds all damaged pages of a stopped server.',
    },
  };
}
