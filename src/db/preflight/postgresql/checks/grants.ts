import { countOf } from '../../../../base/text.ts';
import { catalogOids, firstNormalOid, schemaOids } from '../../../../postgresql/catalog-oids.ts';
import { passOutcome, warnOutcome } from '../../finding.ts';
import { declareDatabaseCheck } from '../check.ts';
import { featureCondition } from '../queries/database-overview.ts';
import { sharedAccessQuery } from '../queries/privileges.ts';
import { column, columns, rowQuery } from '../query.ts';

const hasPrivileges = featureCondition('privileges');

/** How many of the objects of users have something that the migration does not copy. */
const accessCountsQuery = rowQuery({
  id: 'access-counts',
  scope: 'database',
  when: (known, dbname) => {
    const shared = known(sharedAccessQuery);
    return hasPrivileges(known) || shared === undefined || shared.owned.has(dbname) || shared.configured.has(dbname);
  },
  // What initdb and extensions grant exists on the target too: pg_init_privs.
  sql: () => `
    SELECT
      (
        SELECT count(DISTINCT (o.classid, o.objid))
        FROM (
          SELECT '${catalogOids.pg_class}'::oid, oid, 0, relacl FROM pg_class WHERE relacl IS NOT NULL
          UNION ALL
          SELECT '${catalogOids.pg_class}', attrelid, attnum, attacl FROM pg_attribute WHERE attacl IS NOT NULL
          UNION ALL SELECT '${catalogOids.pg_proc}', oid, 0, proacl FROM pg_proc WHERE proacl IS NOT NULL
          UNION ALL SELECT '${catalogOids.pg_namespace}', oid, 0, nspacl FROM pg_namespace WHERE nspacl IS NOT NULL
          UNION ALL SELECT '${catalogOids.pg_type}', oid, 0, typacl FROM pg_type WHERE typacl IS NOT NULL
          UNION ALL SELECT '${catalogOids.pg_language}', oid, 0, lanacl FROM pg_language WHERE lanacl IS NOT NULL
        ) o (classid, objid, objsubid, acl)
        LEFT JOIN pg_init_privs i ON i.classoid = o.classid AND i.objoid = o.objid AND i.objsubid = o.objsubid
        WHERE i.initprivs IS DISTINCT FROM o.acl
          AND (
            o.objid >= '${firstNormalOid}'
              OR o.classid = '${catalogOids.pg_language}'
              OR (o.classid = '${catalogOids.pg_namespace}' AND o.objid = '${schemaOids.public}')
          )
      ) + (SELECT count(*) FROM pg_database WHERE datname = current_database() AND datacl IS NOT NULL) AS grants,
      (
        SELECT count(DISTINCT s.refobjid)
        FROM pg_database d
        JOIN pg_shdepend s ON s.dbid = d.oid OR (s.dbid = '0' AND s.classid = '${catalogOids.pg_database}' AND s.objid = d.oid)
        WHERE d.datname = current_database() AND s.deptype = 'o'
      ) AS owners,
      (SELECT count(*) FROM pg_default_acl) AS defaults,
      (
        SELECT count(*)
        FROM pg_db_role_setting s
        LEFT JOIN pg_database d ON d.oid = s.setdatabase
        WHERE d.datname = current_database() OR (s.setdatabase = 0 AND s.setrole >= '${firstNormalOid}')
      ) AS settings
  `,
  row: columns({
    grants: column.number('grants'),
    /** Roles other than the first superuser that own an object. */
    owners: column.number('owners'),
    defaults: column.number('defaults'),
    settings: column.number('settings'),
  }),
});

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
