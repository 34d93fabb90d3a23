import { countOf } from '../../../../base/text.ts';
import {
  catalogOids,
  firstNormalOid,
  languageOids,
  mutableFunctions,
  typeOids,
} from '../../../../postgresql/catalog-oids.ts';
import { failOutcome, passOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { featureCondition } from '../queries/database-overview.ts';
import { column, columns, rowsQuery } from '../query.ts';
import { targetVersionNumber } from '../source-facts.ts';

const trees = [
  `
    SELECT 'index ' || i.indexrelid::regclass AS object, concat(i.indexprs::text, i.indpred::text) AS tree
    FROM pg_index i
    WHERE i.indexrelid >= '${firstNormalOid}'
      AND (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL)
  `,
  `
    SELECT 'partition key of ' || p.partrelid::regclass, p.partexprs::text
    FROM pg_partitioned_table p
    WHERE p.partexprs IS NOT NULL
  `,
];

const generated = `
  SELECT 'column ' || a.attrelid::regclass || '.' || quote_ident(a.attname), f.adbin::text
  FROM pg_attrdef f
  JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
  WHERE a.attrelid >= '${firstNormalOid}'
    AND a.attgenerated <> ''
`;

function treesOf(version: number): string {
  return (version < 120_000 ? trees : [...trees, generated]).join(' UNION ALL ');
}

/** Since PostgreSQL 15 the cast of an interval to text is not immutable. */
function intervalTextsSql(version: number): string {
  return `
    SELECT o.object, 'interval_out(interval)', 'release'
    FROM (${treesOf(version)}) o
    WHERE o.tree ~ 'COERCEVIAIO :arg [{][A-Z]+ [^{}]*type(id)? ${typeOids.interval} '
  `;
}

/**
 * Expressions that must be immutable, but call a function that is not immutable on this server or on the target.
 * PostgreSQL may inline functions in the language SQL, so the functions that their bodies call are examined instead.
 * The extension unaccent declares its functions STABLE, so expressions over them are not immutable on other servers.
 */
const mutableCallsQuery = rowsQuery({
  id: 'non-immutable-calls',
  scope: 'database',
  when: featureCondition('expressions', 'columns', 'relations'),
  sql: (version) =>
    version < 100_000
      ? undefined
      : `
        SELECT DISTINCT
          o.object,
          p.oid::regprocedure AS calls,
          CASE
            WHEN p.provolatile <> 'i' THEN 'here'
            WHEN p.oid < '${firstNormalOid}' THEN 'system'
            ELSE 'extension'
          END AS immutable_where
        FROM (${treesOf(version)}) o
        CROSS JOIN LATERAL regexp_matches(o.tree, 'funcid ([0-9]+) ', 'g') m(found)
        JOIN pg_proc p ON p.oid = m.found[1]::oid
        WHERE p.prolang <> '${languageOids.sql}'
          AND (
            p.provolatile <> 'i'
              OR m.found[1] ~ '^(${mutableFunctions})$'
              OR (
                p.proname = 'unaccent'
                  AND EXISTS (
                    SELECT FROM pg_depend d
                    JOIN pg_extension e ON e.oid = d.refobjid
                    WHERE d.classid = '${catalogOids.pg_proc}'
                      AND d.objid = p.oid
                      AND d.deptype = 'e'
                      AND e.extname = 'unaccent'
                  )
              )
          )
        ${version < 150_000 ? `UNION ALL ${intervalTextsSql(version)}` : ''}
        ORDER BY 1, 2
      `,
  row: columns({
    /**
     * The object with the expression, such as `index public.t_name`, `column public.t.g`, `partition key of public.p`.
     */
    object: column.text('object'),
    /** With argument types. */
    calls: column.text('calls'),
    /**
     * `here`: the function is not immutable on this server; `system`, `extension`: the built-in or extension function was
     * declared immutable on this server only; `release`: PostgreSQL before 15 declares it immutable.
     */
    where: column.oneOf('immutable_where', 'extension', 'here', 'release', 'system'),
  }),
});

export const mutableCallsCheck = declareDatabaseCheck({
  id: 'mutable-calls',
  title: 'indexes, generated columns and partition keys call only immutable functions',
  headline: 'An index, a generated column or a partition key calls a function that is not immutable',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { mutableCalls: mutableCallsQuery },
  evaluate({ mutableCalls: all }, database, _facts, options) {
    const isLater = (targetVersionNumber(options) ?? 150_000) >= 150_000;
    const mutableCalls = all.filter(({ where }) => where !== 'release' || isLater);
    if (mutableCalls.length === 0) return passOutcome('all');
    const objects = [...new Set(mutableCalls.map(({ object }) => object))];
    const here = mutableCalls.filter((one) => one.where === 'here').map(({ calls }) => calls);
    const made = mutableCalls
      .filter(({ where }) => where === 'system' || where === 'extension')
      .map(({ calls }) => calls);
    const isCast = mutableCalls.some(({ where }) => where === 'release');
    const texts = [
      ...(here.length === 0
        ? []
        : [
            `If a function that you wrote always returns the same result, declare the function as IMMUTABLE again: ALTER FUNCTION ${here[0]} IMMUTABLE.`,
          ]),
      ...(made.length === 0
        ? []
        : [
            `Create a wrapper function that is IMMUTABLE and calls ${made[0]} by its qualified name, and re-create the indexes and columns with it.`,
          ]),
      ...(isCast
        ? [
            'Cast the interval in a function of your own that is IMMUTABLE, and re-create the indexes and columns with it.',
          ]
        : []),
      'As an alternative, drop the listed objects before the migration, and create them on the target after the functions are IMMUTABLE on the target too.',
    ];
    return failOutcome(['continuous', 'dump'], countOf(objects.length, 'object'), {
      required: 'functions that are IMMUTABLE on every server',
      detail: `${[
        ...(isCast ? ['PostgreSQL 15 no longer declares the cast of an interval to text IMMUTABLE'] : []),
        ...(here.length > 0
          ? ['The called functions were IMMUTABLE when the listed objects were created, but no longer are']
          : []),
        ...(made.length > 0
          ? [
              'A dump does not contain ALTER FUNCTION … IMMUTABLE of a function that belongs to the system or an extension',
            ]
          : []),
      ].join(
        '; ',
      )}, so the schema cannot be restored: "functions in index expression must be marked IMMUTABLE", "generation expression is not immutable".${unlistedNote(objects)}`,
      objects: limitObjects(mutableCalls).map(({ object, calls }) => `${object} (${calls})`),
      fix: { database, by: 'the owner of the tables, or a superuser', text: texts.join(' ') },
    });
  },
});
