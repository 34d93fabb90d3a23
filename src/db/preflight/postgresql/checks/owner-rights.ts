import { countOf } from '../../../../base/text.ts';
import { catalogOids, firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import { quoteIdentifier, requoteName, requoteSignature } from '../../../../postgresql/quote.ts';
import { decodeText } from '../../../../postgresql/rows.ts';
import { passOutcome, removalEffect, unknownOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { isNotMemberSql } from '../queries/catalog-predicates.ts';
import { sharedAccessQuery } from '../queries/privileges.ts';
import { column, columns, rowsQuery } from '../query.ts';
import { targetVersionNumber } from '../source-facts.ts';

const { pg_attrdef, pg_class, pg_constraint, pg_operator, pg_proc } = catalogOids;

/**
 * Tables of an owner who is no superuser, with what a subscription asks of him: the privileges of the table, USAGE of its
 * schema, and EXECUTE of functions in CHECKs, domains, indexes, partition keys and generated columns. Their bodies run as the
 * owner, too, so they are searched for the names of functions and schemas. Only functions whose privileges were changed can
 * lack one.
 */
export const ownerRightsQuery = rowsQuery({
  id: 'owner-rights',
  scope: 'database',
  when: (known, dbname) => known(sharedAccessQuery)?.owned.has(dbname) ?? true,
  sql: (version) => `
    WITH RECURSIVE owned AS (
      SELECT c.oid, c.relowner AS owner, c.relnamespace
      FROM pg_class c
      JOIN pg_roles r ON r.oid = c.relowner
      WHERE c.oid >= '${firstNormalOid}'
        AND c.relkind = 'r'
        AND c.relpersistence = 'p'
        AND NOT r.rolsuper
        AND ${isNotMemberSql('pg_class', 'c.oid')}
    ), callers AS (
      SELECT d.classid, d.objid, coalesce(o.oprcode, d.refobjid) AS called
      FROM pg_depend d
      LEFT JOIN pg_operator o ON d.refclassid = '${pg_operator}' AND o.oid = d.refobjid
      WHERE d.refclassid IN ('${pg_proc}', '${pg_operator}')
        AND d.refobjid >= '${firstNormalOid}'
        AND d.classid IN ('${pg_constraint}', '${pg_class}', '${pg_attrdef}')
    ), holders AS (
      SELECT k.contypid AS type, u.called
      FROM callers u
      JOIN pg_constraint k ON u.classid = '${pg_constraint}' AND k.oid = u.objid AND k.contypid <> '0'
      UNION
      SELECT t.oid, h.called
      FROM holders h
      JOIN pg_type t ON t.typbasetype = h.type OR (t.typelem = h.type AND t.typlen = -1)
    ), keys AS (
      SELECT u.objid AS oid, u.called
      FROM callers u
      WHERE u.classid = '${pg_class}'
      UNION
      SELECT i.inhrelid, k.called
      FROM keys k
      JOIN pg_inherits i ON i.inhparent = k.oid
    ), uses AS (
      SELECT k.conrelid AS oid, u.called
      FROM callers u
      JOIN pg_constraint k ON u.classid = '${pg_constraint}' AND k.oid = u.objid AND k.conrelid <> '0'
      UNION
      SELECT a.attrelid, h.called
      FROM holders h
      JOIN pg_attribute a ON a.atttypid = h.type AND a.attnum > '0'
      UNION
      SELECT coalesce(i.indrelid, k.oid), k.called
      FROM keys k
      LEFT JOIN pg_index i ON i.indexrelid = k.oid
      UNION
      SELECT f.adrelid, u.called
      FROM callers u
      JOIN pg_attrdef f ON u.classid = '${pg_attrdef}' AND f.oid = u.objid
      JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
      WHERE ${version < 120_000 ? 'false' : "a.attgenerated <> ''"}
    ), bodies AS (
      SELECT p.oid, p.prosrc
      FROM pg_proc p
      WHERE p.oid IN (SELECT u.called FROM uses u JOIN owned o ON o.oid = u.oid)
        AND p.prolang IN (SELECT l.oid FROM pg_language l WHERE l.lanpltrusted)
        AND NOT p.prosecdef
    ), needs AS (
      SELECT p.oid AS called, p.oid AS function, NULL::oid AS schema
      FROM pg_proc p
      WHERE p.oid >= '${firstNormalOid}' AND p.proacl IS NOT NULL
      UNION ALL
      SELECT b.oid, g.oid, NULL
      FROM bodies b
      JOIN pg_proc g ON ${namesSql('b.prosrc', 'g.proname', '[(]')}
      WHERE g.oid >= '${firstNormalOid}' AND g.proacl IS NOT NULL
      UNION ALL
      SELECT b.oid, NULL, n.oid
      FROM bodies b
      JOIN pg_namespace n ON ${namesSql('b.prosrc', 'n.nspname', '[.]')}
    )
    SELECT m.kind, m.name, m.rights, m.oid::regclass::text AS relation, pg_get_userbyid(m.owner) AS owner
    FROM (
      SELECT o.oid, o.owner, 'TABLE', o.oid::regclass::text, concat_ws(
        ', ',
        ${['select', 'insert', 'update', 'delete', 'truncate']
          .map((right) => `CASE WHEN NOT has_table_privilege(o.owner, o.oid, '${right}') THEN '${right}' END`)
          .join(', ')}
      )
      FROM owned o
      UNION
      SELECT o.oid, o.owner, 'SCHEMA', o.relnamespace::regnamespace::text, 'USAGE'
      FROM owned o
      WHERE NOT has_schema_privilege(o.owner, o.relnamespace, 'USAGE')
      UNION
      SELECT o.oid, o.owner, 'SCHEMA', x.schema::regnamespace::text, 'USAGE'
      FROM owned o
      JOIN uses u ON u.oid = o.oid
      JOIN needs x ON x.called = u.called
      WHERE NOT has_schema_privilege(o.owner, x.schema, 'USAGE')
      UNION
      SELECT o.oid, o.owner, 'FUNCTION', x.function::regprocedure::text, 'EXECUTE'
      FROM owned o
      JOIN uses u ON u.oid = o.oid
      JOIN needs x ON x.called = u.called
      WHERE NOT has_function_privilege(o.owner, x.function, 'EXECUTE')
    ) m (oid, owner, kind, name, rights)
    WHERE m.rights <> ''
    ORDER BY 1, 2, 4
  `,
  row: columns({
    table: column.text('relation'),
    owner: column.text('owner'),
    /** `INSERT, UPDATE`, `USAGE` or `EXECUTE`. */
    rights: (row) => decodeText(row, 'rights').toUpperCase(),
    /** As GRANT names it: a table, a schema, or a function with its arguments. */
    kind: column.oneOf('kind', 'TABLE', 'FUNCTION', 'SCHEMA'),
    on: column.text('name'),
  }),
});

/** Condition: the body of a function names an object before the pattern. */
const namesSql = (body: string, name: string, end: string) => `
  strpos(lower(${body}), lower(${name}::text)) > 0
    AND ${body} ~* ('(^|\\W)' || regexp_replace(${name}::text, '(\\W)', '\\\\\\1', 'g') || '"?\\s*${end}')
`;

export const ownerRightsCheck = declareDatabaseCheck({
  id: 'owner-rights',
  title: 'the owner of each table may write it',
  headline: 'The owner of a table may not write it',
  severity: { continuous: 'blocker' },
  queries: { missing: ownerRightsQuery },
  evaluate({ missing }, database, _facts, options) {
    const version = targetVersionNumber(options);
    const read = options.target?.postgresql;
    if (missing.length === 0) return passOutcome('yes');
    // Older releases write as the owner of the subscription; a login that is no superuser owns what it creates.
    if ((version !== undefined && version < 160_000) || read?.isSuperuser === false) return passOutcome('not needed');
    const statements = (verb: 'GRANT' | 'REVOKE') => [
      ...new Set(
        missing.map(
          ({ rights, kind, on, owner }) =>
            `${verb} ${rights} ON ${kind} ${kind === 'FUNCTION' ? requoteSignature(on) : requoteName(on)} ${verb === 'GRANT' ? 'TO' : 'FROM'} ${quoteIdentifier(owner)}`,
        ),
      ),
    ];
    const tables = [...new Set(missing.map(({ table }) => table))];
    return {
      ...unknownOutcome(countOf(tables.length, 'table')),
      premise: 'the service leaves out owners and privileges (pg_dump --no-owner --no-privileges)',
      settledBy: 'GRANT on the source',
      required: 'owners that may write their tables',
      detail: `Since PostgreSQL 16 the owner of a table writes what is copied and replicated. With the owners and privileges of the source the server rejects it: "permission denied for ${missing[0]?.kind.toLowerCase()}", and the copy is retried endlessly.${unlistedNote(missing)}`,
      objects: limitObjects(missing).map(
        ({ table, owner, rights, kind, on }) =>
          `${table}: ${owner} has no ${rights}${kind === 'TABLE' ? '' : ` on ${kind.toLowerCase()} ${on}`}`,
      ),
      fix: {
        sql: statements('GRANT'),
        undo: statements('REVOKE'),
        effects: [removalEffect(ownerRightsQuery, missing)],
        database,
        by: 'the owners of tables, schemas and functions, or a superuser',
        text: 'Grant the owners what they lack until the cut-over.',
      },
    };
  },
});
