import { countOf } from '../../../../base/text.ts';
import { firstNormalOid } from '../../../../postgresql/catalog-oids.ts';
import { failOutcome, passOutcome, unknownOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { oidPattern } from '../queries/catalog-predicates.ts';
import { featureCondition } from '../queries/database-overview.ts';
import { column, columns, type RowOf, rowsQuery } from '../query.ts';

/**
 * An expression with the system column tableoid, which has another value on the target. Expressions of indexes and
 * partition keys cannot contain tableoid.
 */
type TableoidUse = RowOf<typeof tableoidUsesQuery>;

const tableoidUsesQuery = rowsQuery({
  id: 'table-oid-uses',
  scope: 'database',
  when: featureCondition('columns', 'checks'),
  sql: (version) => {
    const pattern = oidPattern(version);
    const checks = `
        SELECT
          'check' AS kind,
          quote_ident(k.conname) || ' on ' || k.conrelid::regclass AS name,
          pg_get_constraintdef(k.oid) AS definition
        FROM pg_constraint k
        WHERE k.oid >= '${firstNormalOid}'
          AND k.contype = 'c'
          AND k.conrelid <> '0'
          AND k.conbin::text ~ '${pattern}'${version < 180_000 ? '' : ' AND k.conenforced'}
      `;
    if (version < 120_000) return checks;
    return `${checks} UNION ALL
      SELECT
        'generated',
        'column ' || a.attrelid::regclass || '.' || quote_ident(a.attname),
        pg_get_expr(f.adbin, f.adrelid)
      FROM pg_attrdef f
      JOIN pg_attribute a ON a.attrelid = f.adrelid AND a.attnum = f.adnum
      WHERE a.attrelid >= '${firstNormalOid}'
        AND a.attgenerated <> ''
        AND f.adbin::text ~ '${pattern}'
    `;
  },
  row: columns({
    kind: column.oneOf('kind', 'check', 'generated'),
    /** The object with the expression: `column public.t.g`, `c on public.t`. */
    name: column.text('name'),
    /** The expression or constraint, as the server prints it. */
    definition: column.text('definition'),
  }),
});

export const tableoidDependenceCheck = declareDatabaseCheck({
  id: 'table-oids',
  title: 'no generated column or CHECK constraint depends on object ids',
  headline: 'A generated column or a CHECK constraint depends on object ids',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { uses: tableoidUsesQuery },
  evaluate({ uses }, database) {
    const found = uses.filter(dependsOnNumber);
    if (found.length === 0) return passOutcome('none');
    const columns = found.filter(({ kind }) => kind === 'generated');
    const named = columns.length > 0 ? columns : found;
    const objects = limitObjects(named).map(({ name, definition }) => `${name}: ${definition}`);
    const fix = {
      database,
      by: 'the owner of the tables, or a superuser',
      text: "Compare tableoid with the name of the table, which a dump contains: tableoid = 'schema.table'::regclass. As an alternative, drop the columns and constraints before the migration.",
    };
    const more = { required: "no use of tableoid, or a comparison with 'table'::regclass", objects, fix };
    if (columns.length > 0) {
      return failOutcome(['continuous', 'dump'], countOf(columns.length, 'generated column'), {
        ...more,
        detail: `A table has another OID on the target, and the target computes generated columns itself, so their values differ without an error.${unlistedNote(columns)}`,
      });
    }
    return {
      ...unknownOutcome(
        `${countOf(found.length, 'constraint')}, and it is not known whether the rows satisfy them on the target`,
      ),
      premise: 'every row satisfies the CHECK constraints with the table OIDs of the target',
      ...more,
      detail: `A table has another OID on the target, which evaluates the constraint for every row: "new row for relation … violates check constraint". Run \`cloudctl db rehearse\` to see whether the rows can be copied.${unlistedNote(found)}`,
    };
  },
});

/**
 * A comparison of tableoid with the name of a table is dumped with that name, and has the same result on every server.
 */
export function dependsOnNumber({ definition }: Pick<TableoidUse, 'definition'>): boolean {
  const rest = definition.replace(comparisonWithName, '');
  return /\btableoid\b/.test(rest) || [...rest.matchAll(constant)].some(([, cast]) => convertedName.test(cast ?? ''));
}

/**
 * Matches the name of an object that is converted to its OID or to text. A dump contains the name; the result of the
 * conversion differs on the target. The OID is different there, and with an empty search_path the text contains the
 * schema.
 */
const convertedName = /::(?:oid|bigint|integer|text|character varying|name)$/;

/** Matches each constant once, because a text of many quotes would be read from each of them. */
const constant = /(?:'[^']*')+(::reg\w+\)*::(?:character varying|\w+))?/g;

const comparisonWithName = /\btableoid(?:\)|::regclass|::oid)*\s*(?:=|<>)\s*\(*'(?:[^']|'')*'::regclass/g;
