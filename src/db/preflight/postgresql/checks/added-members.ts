import { countOf } from '../../../../base/text.ts';
import { catalogOids, firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import { requoteName, requoteSignature } from '../../../../postgresql/quote.ts';
import { failOutcome, passOutcome, removalEffect, warnOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { featureCondition } from '../queries/database-overview.ts';
import { column, columns, type RowOf, rowsQuery } from '../query.ts';

/**
 * A function that is a member of an extension although the scripts of the extension do not create it: ALTER EXTENSION …
 * ADD made it a member.
 */
type AddedFunction = RowOf<typeof addedFunctionsQuery>;

/** Maximum bytes of the scripts of one extension that are read; larger ones have thousands of functions. */
const scriptLimit = 2 * 1024 ** 2;

/**
 * Only a superuser may read the scripts of extensions. Extension scripts are read as bytes, because their encoding may
 * not be that of the database. The scripts of all versions are read, because an extension that was updated has
 * functions of each version. A script may be a link without a target. The constructors of a range type and its
 * multirange type are created with the type. In some locales lower('I') is not 'i'.
 */
const addedFunctionsQuery = rowsQuery({
  id: 'added-members',
  scope: 'database',
  when: featureCondition('extensions'),
  sql: (version, { superuser }) =>
    version < 100_000 || !superuser
      ? undefined
      : `
        WITH share AS (SELECT setting || '/extension' AS folder FROM pg_config() WHERE name = 'SHAREDIR'),
        files AS (
          SELECT e.oid, e.extname, s.folder || '/' || f.name AS path, t.size AS bytes
          FROM share s
          CROSS JOIN LATERAL pg_ls_dir(s.folder, true, false) f(name)
          JOIN pg_extension e ON left(f.name, length(e.extname) + 2) = e.extname || '--'
          CROSS JOIN LATERAL pg_stat_file(s.folder || '/' || f.name, true) t
          WHERE e.oid >= '${firstNormalOid}'
            AND right(f.name, 4) = '.sql'
            AND NOT t.isdir
        ),
        known AS (SELECT oid FROM files GROUP BY oid HAVING sum(bytes) <= ${scriptLimit}),
        scripts AS (
          SELECT
            f.oid,
            f.extname,
            lower(
              string_agg(encode(pg_read_binary_file(f.path, '0', ${scriptLimit}, true), 'escape'), ' ') COLLATE "C"
            ) AS script
          FROM files f
          JOIN known k ON k.oid = f.oid
          GROUP BY f.oid, f.extname
        )
        SELECT
          quote_ident(s.extname) AS extname,
          p.oid::regprocedure AS signature,
          (
            SELECT min(pg_describe_object(u.classid, u.objid, u.objsubid))
            FROM pg_depend u
            WHERE u.refclassid = '${catalogOids.pg_proc}'
              AND u.refobjid = p.oid
              AND u.deptype = 'n'
          ) AS used_by
        FROM scripts s
        JOIN pg_depend d
          ON d.refclassid = '${catalogOids.pg_extension}'
            AND d.refobjid = s.oid
            AND d.classid = '${catalogOids.pg_proc}'
            AND d.deptype = 'e'
        JOIN pg_proc p ON p.oid = d.objid
        WHERE p.proname ~ '^[ -~]+$'
          AND strpos(s.script, lower(p.proname::text COLLATE "C")) = 0
          AND NOT EXISTS (
            SELECT
            FROM pg_depend i
            WHERE i.classid = '${catalogOids.pg_proc}'
              AND i.objid = p.oid
              AND i.deptype = 'i'
          )
        ORDER BY 1, 2
      `,
  row: columns({
    /** Quoted. */
    extension: column.text('extname'),
    /** With argument types. */
    signature: column.text('signature'),
    /** An object that depends on the function; undefined if there is none. */
    user: column.optionalText('used_by'),
  }),
});

export const addedExtensionMembersCheck = declareDatabaseCheck({
  id: 'added-members',
  title: 'no function was added to an extension',
  headline: 'A function was added to an extension',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { added: addedFunctionsQuery },
  evaluate({ added }, database) {
    if (added.length === 0) return passOutcome('none');
    const needed = added.filter(({ user }) => user !== undefined);
    const named = needed.length > 0 ? needed : added;
    const more = {
      required: 'functions that the scripts of the extension create',
      detail: `A dump does not contain the members of an extension: CREATE EXTENSION creates them on the target, and the scripts of the extension do not create these functions. ${needed.length === 0 ? 'These functions are missing on the target without an error.' : `Objects that need these functions cannot be created: "function … does not exist".`}${unlistedNote(named)}`,
      objects: limitObjects(named).map(
        ({ signature, extension, user }) => `${signature} (${extension}${user === undefined ? '' : `, ${user}`})`,
      ),
      fix: {
        review: named.map(statement('DROP')),
        undoReview: named.map(statement('ADD')),
        effects: [removalEffect(addedFunctionsQuery, named)],
        database,
        by: 'the owner of the extension, or a superuser',
        text: 'Remove the functions from the extension (ALTER EXTENSION … DROP FUNCTION). They continue to exist, and a dump then contains them.',
      },
    };
    const observed = countOf(named.length, 'function');
    return needed.length > 0 ? failOutcome(['continuous', 'dump'], observed, more) : warnOutcome(observed, more);
  },
});

const statement =
  (verb: 'ADD' | 'DROP') =>
  ({ extension, signature }: AddedFunction): string =>
    `ALTER EXTENSION ${requoteName(extension)} ${verb} FUNCTION ${requoteSignature(signature)}`;
