import { firstNormalObjectId } from '../../../postgresql/catalog-oids.ts';
import { decodeTextColumn } from '../../../postgresql/decode-row.ts';
import type { PostgresqlPreflightQuery } from '../query.ts';
import { createDatabaseFeatureCondition } from './database-overview.ts';

/** A name, comment or definition in the schema that is not valid UTF-8. */
export interface InvalidUtf8SchemaText {
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
  ['name', `SELECT nspname::text FROM pg_namespace WHERE oid >= '${firstNormalObjectId}'`],
  ['name', `SELECT relname::text FROM pg_class WHERE oid >= '${firstNormalObjectId}'`],
  [
    'name',
    `
    SELECT attname::text
    FROM pg_attribute
    WHERE attrelid >= '${firstNormalObjectId}' AND NOT attisdropped
  `,
  ],
  ['name', `SELECT typname::text FROM pg_type WHERE oid >= '${firstNormalObjectId}'`],
  ['name', `SELECT conname::text FROM pg_constraint WHERE oid >= '${firstNormalObjectId}'`],
  ['name', `SELECT proname::text FROM pg_proc WHERE oid >= '${firstNormalObjectId}'`],
  ['name', 'SELECT tgname::text FROM pg_trigger'],
  ['label', 'SELECT enumlabel::text FROM pg_enum'],
  ['comment', 'SELECT description FROM pg_description'],
  ['default', 'SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef'],
  ['default', `SELECT typdefault FROM pg_type WHERE oid >= '${firstNormalObjectId}'`],
  ['constraint', `SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE oid >= '${firstNormalObjectId}'`],
  ['index', 'SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indexprs IS NOT NULL OR indpred IS NOT NULL'],
  ['function', `SELECT prosrc FROM pg_proc WHERE oid >= '${firstNormalObjectId}'`],
  ['view', `SELECT pg_get_ruledef(oid) FROM pg_rewrite WHERE oid >= '${firstNormalObjectId}'`],
  ['trigger', 'SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal'],
  [
    'policy',
    `
      SELECT concat(polname, pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid))
      FROM pg_policy
    `,
  ],
];

/**
 * Only texts with bytes outside of ASCII are returned, and as hex, because the client encoding of the session is UTF-8.
 */
export const invalidUtf8SchemaTextsQuery: PostgresqlPreflightQuery<readonly InvalidUtf8SchemaText[]> = {
  id: 'invalid-utf8-texts',
  scope: 'database',
  when: createDatabaseFeatureCondition('any-bytes'),
  sql: () => `
    SELECT kind, encode(convert_to(written, 'SQL_ASCII'), 'hex') AS bytes
    FROM (
      ${texts.map(([kind, query]) => `SELECT '${kind}', t FROM (${query}) s(t)`).join(' UNION ')}
    ) u(kind, written)
    WHERE translate(written, chr(9) || chr(10) || chr(13), '') ~ '[^ -~]'
  `,
  decode: (rows) =>
    rows.flatMap((row) => {
      const bytes = Buffer.from(decodeTextColumn(row, 'bytes'), 'hex');
      const shown = bytes.toString('utf8');
      return Buffer.from(shown, 'utf8').equals(bytes) ? [] : [{ kind: decodeTextColumn(row, 'kind'), shown }];
    }),
  absent: [],
};
