import { countOf } from '../../../../base/text.ts';
import { firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import { decodeNumber } from '../../../../postgresql/rows.ts';
import { passOutcome, warnOutcome } from '../../finding.ts';
import { declareDatabaseCheck } from '../check.ts';
import type { PostgresqlQuery } from '../query.ts';

/** How many of the objects of users have something that the migration does not copy. */
interface AccessCounts {
  readonly grants: number;
  /** Roles other than the first superuser that own an object. */
  readonly owners: number;
  readonly defaults: number;
  readonly settings: number;
}

/** What an extension grants on its members exists on the target too. */
const isOfUser = (catalog: string, table: string): string => `
  ${table}.oid >= '${firstNormalOid}'
    AND NOT EXISTS (
      SELECT FROM pg_depend e
      WHERE e.classid = '${catalog}'::regclass AND e.objid = ${table}.oid AND e.deptype = 'e'
    )
`;

export const accessCountsQuery: PostgresqlQuery<AccessCounts> = {
  id: 'access-counts',
  scope: 'database',
  sql: () => `
    SELECT
      (SELECT count(*) FROM pg_class c WHERE c.relacl IS NOT NULL AND ${isOfUser('pg_class', 'c')})
        + (SELECT count(*) FROM pg_proc p WHERE p.proacl IS NOT NULL AND ${isOfUser('pg_proc', 'p')})
        + (SELECT count(*) FROM pg_namespace n WHERE n.nspacl IS NOT NULL AND ${isOfUser('pg_namespace', 'n')})
        + (SELECT count(*) FROM pg_type t WHERE t.typacl IS NOT NULL AND ${isOfUser('pg_type', 't')})
        + (
          SELECT count(DISTINCT c.oid)
          FROM pg_attribute a
          JOIN pg_class c ON c.oid = a.attrelid
          WHERE a.attacl IS NOT NULL AND c.relacl IS NULL AND ${isOfUser('pg_class', 'c')}
        )
        + (SELECT count(*) FROM pg_database d WHERE d.datname = current_database() AND d.datacl IS NOT NULL) AS grants,
      (
        SELECT count(*)
        FROM pg_roles r
        WHERE r.oid >= '${firstNormalOid}'
          AND (
            EXISTS (SELECT FROM pg_class c WHERE c.relowner = r.oid)
              OR EXISTS (SELECT FROM pg_proc p WHERE p.proowner = r.oid)
              OR EXISTS (SELECT FROM pg_namespace n WHERE n.nspowner = r.oid)
              OR EXISTS (SELECT FROM pg_database d WHERE d.datname = current_database() AND d.datdba = r.oid)
          )
      ) AS owners,
      (SELECT count(*) FROM pg_default_acl) AS defaults,
      (
        SELECT count(*)
        FROM pg_db_role_setting s
        LEFT JOIN pg_database d ON d.oid = s.setdatabase
        WHERE d.datname = current_database() OR (s.setdatabase = 0 AND s.setrole >= '${firstNormalOid}')
      ) AS settings
  `,
  decode: ([row = {}]) => ({
    grants: decodeNumber(row, 'grants'),
    owners: decodeNumber(row, 'owners'),
    defaults: decodeNumber(row, 'defaults'),
    settings: decodeNumber(row, 'settings'),
  }),
  absent: { grants: 0, owners: 0, defaults: 0, settings: 0 },
};

export const grantsCheck = declareDatabaseCheck({
  id: 'grants',
  title: 'the database has no owners, privileges or settings of its own',
  headline: 'Owners, privileges or settings are not copied',
  severity: { continuous: 'warning', dump: 'warning' },
  queries: { access: accessCountsQuery },
  evaluate({ access: { grants, owners, defaults, settings } }) {
    const parts = [
      ...(owners === 0 ? [] : [`the objects of ${countOf(owners, 'owner')}`]),
      ...(grants === 0 ? [] : [`privileges on ${countOf(grants, 'object')}`]),
      ...(defaults === 0 ? [] : [countOf(defaults, 'default privilege')]),
      ...(settings === 0 ? [] : [`settings of ${countOf(settings, 'database or role', 'databases or roles')}`]),
    ];
    if (parts.length === 0) return passOutcome('none');
    return warnOutcome(parts.join(', '), {
      required: 'none, or owners, privileges and settings that are restored at the cut-over',
      detail:
        'On the target every object belongs to one role, and has the privileges of a new object: roles that could read or write a table get "permission denied", and everybody may execute a function that was revoked from PUBLIC.',
      dataLoss: grants + owners > 0 ? 'owners and privileges' : defaults > 0 ? 'default privileges' : 'settings',
      fix: {
        by: 'the operator of the cut-over',
        text: 'Run the output of `cloudctl db grants` on the target when the migration is stopped; the lines grants, defaults and settings of `cloudctl db cutover` show what is left.',
      },
    });
  },
});
