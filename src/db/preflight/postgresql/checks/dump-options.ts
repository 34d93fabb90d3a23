import { countOf } from '../../../../base/text.ts';
import { firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import { decodeText } from '../../../../postgresql/rows.ts';
import { passOutcome, unknownOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';

import { type LaterKeywordUse, laterKeywordUsesQuery, removedFunctionsQuery } from '../queries/dump-options.ts';
import { roleSettingsQuery } from '../queries/roles.ts';
import type { PostgresqlQuery } from '../query.ts';
import { targetVersionNumber } from '../source-facts.ts';

/** Objects with other letters than those of ASCII, and the encoding in which new sessions of the role read them. */
interface EncodedTexts {
  readonly encoding: string;
  readonly objects: readonly string[];
}

/** pg_dump keeps the client_encoding that ALTER ROLE or ALTER DATABASE sets, unless an option names another one. */
export const encodedTextsQuery: PostgresqlQuery<EncodedTexts> = {
  id: 'encoded-texts',
  scope: 'database',
  when: (known) => known(roleSettingsQuery)?.some(({ name }) => name.toLowerCase() === 'client_encoding') !== false,
  sql: () => `
    WITH e AS (
      SELECT split_part(a, '=', 2) AS encoding
      FROM pg_db_role_setting s
      CROSS JOIN LATERAL unnest(s.setconfig) a
      LEFT JOIN pg_database d ON d.oid = s.setdatabase
      LEFT JOIN pg_roles r ON r.oid = s.setrole
      WHERE lower(split_part(a, '=', 1)) = 'client_encoding'
        AND (s.setrole = 0 OR r.rolname = current_user)
        AND (s.setdatabase = 0 OR d.datname = current_database())
      ORDER BY s.setrole <> 0 DESC, s.setdatabase <> 0 DESC
      LIMIT 1
    )
    SELECT e.encoding, o.object
    FROM e
    CROSS JOIN LATERAL (
      SELECT pg_describe_object(o.catalog, o.oid, o.part) AS object
      FROM (${namedTextsSql}) o (catalog, oid, part, text)
      WHERE o.oid >= '${firstNormalOid}' AND o.text ~ '[^ -~[:space:]]'
    ) o
    WHERE pg_char_to_encoding(e.encoding) NOT IN (
      pg_char_to_encoding(getdatabaseencoding()),
      pg_char_to_encoding('UTF8'),
      pg_char_to_encoding('SQL_ASCII')
    )
      AND getdatabaseencoding() <> 'SQL_ASCII'
    GROUP BY 1, 2
    ORDER BY 2
  `,
  decode: (rows) => ({
    encoding: decodeText(rows[0] ?? {}, 'encoding'),
    objects: rows.map((row) => decodeText(row, 'object')),
  }),
  absent: { encoding: '', objects: [] },
};

/** Names, comments, bodies and constants, as pg_dump reads them. */
const namedTextsSql = [
  ['pg_class', 'oid', '0', 'relname'],
  ['pg_class', 'attrelid', 'attnum', 'attname', 'pg_attribute'],
  ['pg_proc', 'oid', '0', "concat(proname, ' ', proargnames::text, ' ', prosrc)"],
  ['pg_type', 'oid', '0', 'typname'],
  ['pg_type', 'enumtypid', '0', 'enumlabel', 'pg_enum'],
  ['pg_namespace', 'oid', '0', 'nspname'],
  ['pg_constraint', 'oid', '0', "concat(conname, ' ', pg_get_constraintdef(oid))"],
  ['pg_trigger', 'oid', '0', "concat(tgname, ' ', pg_get_triggerdef(oid))"],
  ['pg_rewrite', 'oid', '0', "concat(rulename, ' ', pg_get_ruledef(oid))"],
  [
    'pg_policy',
    'oid',
    '0',
    "concat(polname, ' ', pg_get_expr(polqual, polrelid), ' ', pg_get_expr(polwithcheck, polrelid))",
  ],
  ['pg_attrdef', 'oid', '0', 'pg_get_expr(adbin, adrelid)'],
  ['pg_class', 'indexrelid', '0', 'pg_get_indexdef(indexrelid)', 'pg_index'],
]
  .map(
    ([catalog, oid, part, text, from = catalog]) =>
      `SELECT '${catalog}'::regclass::oid, ${oid}, ${part}::int, ${text}::text FROM ${from}`,
  )
  .concat('SELECT classoid, objoid, objsubid, description FROM pg_description')
  .join(' UNION ALL ');

export const dumpOptionsCheck = declareDatabaseCheck({
  id: 'dump-options',
  title: 'the target version accepts a dump with the default options of pg_dump',
  headline: 'The target version rejects a dump with the default options of pg_dump',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: {
    keywordNames: laterKeywordUsesQuery,
    builtInGrants: removedFunctionsQuery,
    encodedTexts: encodedTextsQuery,
  },
  evaluate({ keywordNames, builtInGrants, encodedTexts: { encoding, objects: texts } }, database, _facts, options) {
    const target = targetVersionNumber(options);
    const concerns = ({ since }: { readonly since: number }) => target === undefined || since * 10_000 <= target;
    const names = keywordNames.filter(concerns);
    const privileges = builtInGrants.filter(concerns);
    const grants = privileges.map(({ signature }) => signature);
    const removed = privileges.find(({ role }) => role === undefined);
    const ofDropped = privileges.find(({ role }) => role !== undefined);
    if (names.length + grants.length + texts.length === 0) return passOutcome('yes');
    const named = [...new Set(names.map(({ object }) => object))];
    const objects = [...named, ...grants.map((signature) => `privileges on ${signature}`), ...texts];
    return {
      ...unknownOutcome(`${countOf(objects.length, 'object')}, and the options of the service are not known`),
      premise: `the service ${[
        ...(names.length === 0 ? [] : ['quotes all names (pg_dump --quote-all-identifiers)']),
        ...(grants.length === 0 ? [] : ['leaves out privileges (pg_dump --no-privileges)']),
        ...(texts.length === 0 ? [] : ['sets the encoding (pg_dump --encoding UTF8)']),
      ].join(' and ')}`,
      settledBy:
        names.length > 0
          ? 'ALTER … RENAME on the source'
          : grants.length > 0
            ? 'REVOKE or GRANT on the source'
            : 'ALTER … RESET client_encoding on the source',
      required: 'definitions that the target version reads as they are written',
      detail: [
        names.length === 0 ? '' : describeKeywords(names),
        removed === undefined
          ? ''
          : `The target version has no function ${removed.signature}, or a function of this name with other arguments: "function … does not exist".`,
        ofDropped === undefined
          ? ''
          : `The role that created an extension was dropped, and the initial privileges of its objects still have it, which a dump revokes: "role "${ofDropped.role}" does not exist".`,
        texts.length === 0
          ? ''
          : `New sessions of the role have client_encoding ${encoding}, in which pg_dump reads the listed names, comments or bodies: "character … has no equivalent in encoding "${encoding}"".`,
      ]
        .filter((text) => text !== '')
        .join(' ')
        .concat(unlistedNote(objects)),
      objects: limitObjects(objects),
      fix: {
        database,
        by: 'the owner of the objects, or a superuser',
        text: [
          ...(names.length === 0
            ? []
            : [
                'Rename the column, table or schema (ALTER … RENAME), or drop the function and create it with another name of the argument, and adapt the application.',
              ]),
          ...(grants.length === 0
            ? []
            : [
                'Restore the original privileges of the functions (GRANT EXECUTE … TO PUBLIC, or REVOKE), or drop the extension and create it again.',
              ]),
          ...(texts.length === 0
            ? []
            : [
                'Take the encoding back until the cut-over: ALTER DATABASE … RESET client_encoding, or ALTER ROLE … RESET client_encoding.',
              ]),
        ].join(' '),
      },
    };
  },
});

function describeKeywords(names: readonly LaterKeywordUse[]): string {
  const words = [...new Set(names.map(({ word, since }) => `${word.toUpperCase()} (PostgreSQL ${since})`))];
  const isUser = names.some(({ word }) => word === 'system_user');
  return `Newer releases have more keywords, and this server writes these names without quotation marks: ${words.join(', ')}. On the target the definition is a syntax error${isUser ? ', or uses the name of the user instead of the column system_user' : ''}.`;
}
