import { countOf } from '../../../base/text.ts';
import { failOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { declareDatabasePreflightCheck } from '../check.ts';
import { buildIncompleteScanOutcome } from '../deep/get-row-scan-or-check-outcome.ts';
import type { DatabaseScanResult, InvalidEncodingColumn } from '../deep/scanned-row-statistics.ts';
import { findPostgresqlDatabase } from '../find-database.ts';
import { buildUnlistedObjectsNote, limitFindingObjects } from '../listed-objects.ts';
import { databaseFeatureOverviewQuery } from '../queries/database-overview.ts';
import { databasesQuery } from '../queries/databases.ts';
import { invalidUtf8SchemaTextsQuery } from '../queries/invalid-utf8-texts.ts';

/** Databases that exist on every managed target, with the encoding UTF8. */
const presetDatabases = ['defaultdb', 'postgres'];

export const encodingCheck = declareDatabasePreflightCheck({
  id: 'encoding',
  title: 'the database encoding is supported by the target',
  headline: 'The database encoding is SQL_ASCII',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { databases: databasesQuery, overview: databaseFeatureOverviewQuery, rawTexts: invalidUtf8SchemaTextsQuery },
  readsRows: true,
  evaluate({ databases, overview, rawTexts }, database, { scans }) {
    const encoding = findPostgresqlDatabase(databases, database)?.encoding ?? '';
    if (encoding !== 'SQL_ASCII') return passOutcome(encoding);
    const scan = scans?.get(database);
    const isUtf8 = scan !== undefined && scan.invalid.length === 0 && buildIncompleteScanOutcome(scan) === undefined;
    const observed = `${encoding}${scan === undefined ? '' : rowsNote(scan, isUtf8)}`;
    const invalidTexts = objectsOf(scan?.invalid ?? []);
    const fix = {
      by: 'the data owner',
      text: `Correct the text that is not valid UTF-8, then move the data into a database created with ENCODING 'UTF8'.`,
    };
    if (rawTexts.length > 0) {
      return failOutcome(
        ['continuous', 'dump'],
        `${observed}; ${countOf(rawTexts.length, 'schema text')} not valid UTF-8`,
        {
          required: 'a schema in valid UTF-8',
          detail: `The migration reads the schema as UTF-8, and the server rejects text that is not valid UTF-8: invalid byte sequence for encoding "UTF8". The copy then does not start.${buildUnlistedObjectsNote(rawTexts)}`,
          objects: limitFindingObjects(rawTexts).map(({ kind, shown }) => `${kind}: ${shown.slice(0, 60)}`),
          fix: {
            by: 'the owner of the schema',
            text: 'Rename objects and enum labels to valid UTF-8 (ALTER … RENAME, ALTER TYPE … RENAME VALUE) and rewrite comments, defaults, constraints and functions. Rows can keep their bytes if the migration creates the target database.',
          },
        },
      );
    }
    const isPreset = presetDatabases.includes(database) && overview.tables > 0;
    if (isPreset && isUtf8) {
      return warnOutcome(observed, {
        required: 'UTF8',
        detail: `The target already has a database "${database}" with the encoding UTF8. SQL_ASCII accepts any bytes, and a text that is written later and is not valid UTF-8 stops the migration.`,
        fix,
      });
    }
    if (isPreset) {
      return failOutcome(['continuous', 'dump'], observed, {
        required: 'UTF8',
        detail: `The target already has a database "${database}" with the encoding UTF8. Bytes that are not valid UTF-8 stop the copy: invalid byte sequence for encoding "UTF8": 0xff.`,
        ...invalidTexts,
        fix,
      });
    }
    return warnOutcome(observed, {
      required: 'UTF8',
      detail:
        'The encoding SQL_ASCII accepts any bytes. A database that the migration creates on the target has the encoding SQL_ASCII too; in an existing UTF8 database the copy stops at bytes that are not valid UTF-8: invalid byte sequence for encoding "UTF8": 0xff.',
      ...invalidTexts,
      fix,
    });
  },
});

function rowsNote({ invalid }: DatabaseScanResult, isUtf8: boolean): string {
  if (isUtf8) return ', and every row that was read is valid UTF-8';
  return invalid.length === 0 ? '' : `; ${countOf(invalid.length, 'column')} not valid UTF-8`;
}

function objectsOf(invalid: readonly InvalidEncodingColumn[]): { readonly objects?: readonly string[] } {
  if (invalid.length === 0) return {};
  return {
    objects: limitFindingObjects(invalid).map(
      ({ table, column, rows }) => `${column} of ${table} (${countOf(rows, 'row')} not valid UTF-8)`,
    ),
  };
}
