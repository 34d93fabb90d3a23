import { countOf } from '../../../../base/text.ts';
import { firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import { decodeText } from '../../../../postgresql/rows.ts';
import { failOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { declareDatabaseCheck, incompleteScanOutcome, limitObjects, unlistedNote } from '../check.ts';
import type { DatabaseScan, InvalidColumn } from '../deep/results.ts';
import { mayHaveOtherLettersSql } from '../queries/catalog-predicates.ts';
import { databasesQuery, findDatabase } from '../queries/cluster.ts';
import { featureCondition, featuresQuery } from '../queries/database-overview.ts';
import type { PostgresqlQuery } from '../query.ts';

/** A name, comment or definition in the schema that is not valid UTF-8. */
interface InvalidText {
  /**
   * The kind of text: `name`, `label`, `comment`, `default`, `constraint`, `index`, `function`, `view`, `trigger` or
   * `policy`.
   */
  readonly kind: string;
  /** The text, with replacement characters for invalid bytes. */
  readonly shown: string;
}

/**
 * Queries for all names, comments and definitions that a dump of the schema contains, each with the kind of its texts.
 */
const texts: readonly (readonly [kind: string, query: string])[] = [
  ['name', `SELECT nspname::text FROM pg_namespace WHERE oid >= '${firstNormalOid}'`],
  ['name', `SELECT relname::text FROM pg_class WHERE oid >= '${firstNormalOid}'`],
  [
    'name',
    `
    SELECT attname::text
    FROM pg_attribute
    WHERE attrelid >= '${firstNormalOid}' AND NOT attisdropped
  `,
  ],
  ['name', `SELECT typname::text FROM pg_type WHERE oid >= '${firstNormalOid}'`],
  ['name', `SELECT conname::text FROM pg_constraint WHERE oid >= '${firstNormalOid}'`],
  ['name', `SELECT proname::text FROM pg_proc WHERE oid >= '${firstNormalOid}'`],
  ['name', 'SELECT tgname::text FROM pg_trigger'],
  ['label', 'SELECT enumlabel::text FROM pg_enum'],
  ['comment', 'SELECT description FROM pg_description'],
  ['default', 'SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef'],
  ['default', `SELECT typdefault FROM pg_type WHERE oid >= '${firstNormalOid}'`],
  ['constraint', `SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE oid >= '${firstNormalOid}'`],
  ['index', 'SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indexprs IS NOT NULL OR indpred IS NOT NULL'],
  ['function', `SELECT prosrc FROM pg_proc WHERE oid >= '${firstNormalOid}'`],
  [
    'view',
    `
      SELECT CASE WHEN ${mayHaveOtherLettersSql('ev_action')} THEN pg_get_ruledef(oid) END
      FROM pg_rewrite
      WHERE oid >= '${firstNormalOid}'
    `,
  ],
  ['trigger', 'SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal'],
  [
    'policy',
    `
      SELECT concat(
        polname,
        CASE WHEN ${mayHaveOtherLettersSql('polqual')} THEN pg_get_expr(polqual, polrelid) END,
        CASE WHEN ${mayHaveOtherLettersSql('polwithcheck')} THEN pg_get_expr(polwithcheck, polrelid) END
      )
      FROM pg_policy
    `,
  ],
];

/**
 * Only texts with bytes outside of ASCII are returned, and as hex, because the client encoding of the session is UTF-8.
 */
const invalidTextsQuery: PostgresqlQuery<readonly InvalidText[]> = {
  id: 'invalid-utf8-texts',
  scope: 'database',
  when: featureCondition('any-bytes'),
  sql: () => `
    SELECT kind, encode(convert_to(written, 'SQL_ASCII'), 'hex') AS bytes
    FROM (
      ${texts.map(([kind, query]) => `SELECT '${kind}', t FROM (${query}) s(t)`).join(' UNION ')}
    ) u(kind, written)
    WHERE translate(written, chr(9) || chr(10) || chr(13), '') ~ '[^ -~]'
  `,
  decode: (rows) =>
    rows.flatMap((row) => {
      const bytes = Buffer.from(decodeText(row, 'bytes'), 'hex');
      const shown = bytes.toString('utf8');
      return Buffer.from(shown, 'utf8').equals(bytes) ? [] : [{ kind: decodeText(row, 'kind'), shown }];
    }),
  absent: [],
};

/** Databases that exist on every managed target, with the encoding UTF8. */
const presetDatabases = ['defaultdb', 'postgres'];

export const encodingCheck = declareDatabaseCheck({
  id: 'encoding',
  title: 'the database encoding is supported by the target',
  headline: 'The database encoding is SQL_ASCII',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { databases: databasesQuery, overview: featuresQuery, rawTexts: invalidTextsQuery },
  readsRows: true,
  evaluate({ databases, overview, rawTexts }, database, { scans }) {
    const encoding = findDatabase(databases, database)?.encoding ?? '';
    if (encoding !== 'SQL_ASCII') return passOutcome(encoding);
    const scan = scans?.get(database);
    const isUtf8 = scan !== undefined && scan.invalid.length === 0 && incompleteScanOutcome(scan) === undefined;
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
          detail: `The migration reads the schema as UTF-8, and the server rejects text that is not valid UTF-8: invalid byte sequence for encoding "UTF8". The copy then does not start.${unlistedNote(rawTexts)}`,
          objects: limitObjects(rawTexts).map(({ kind, shown }) => `${kind}: ${shown.slice(0, 60)}`),
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

function rowsNote({ invalid }: DatabaseScan, isUtf8: boolean): string {
  if (isUtf8) return ', and every row that was read is valid UTF-8';
  return invalid.length === 0 ? '' : `; ${countOf(invalid.length, 'column')} not valid UTF-8`;
}

function objectsOf(invalid: readonly InvalidColumn[]): { readonly objects?: readonly string[] } {
  if (invalid.length === 0) return {};
  return {
    objects: limitObjects(invalid).map(
      ({ table, column, rows }) => `${column} of ${table} (${countOf(rows, 'row')} not valid UTF-8)`,
    ),
  };
}
