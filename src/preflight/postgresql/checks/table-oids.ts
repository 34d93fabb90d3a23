import { countOf } from '../../../base/text.ts';
import { failOutcome, passOutcome, unknownOutcome } from '../../finding.ts';
import { declareDatabasePreflightCheck } from '../check.ts';
import { buildUnlistedObjectsNote, limitFindingObjects } from '../listed-objects.ts';
import { type TableoidColumnUse, tableoidColumnUsesQuery } from '../queries/tableoid-column-uses.ts';

export const tableoidDependenceCheck = declareDatabasePreflightCheck({
  id: 'table-oids',
  title: 'no generated column or CHECK constraint depends on object ids',
  headline: 'A generated column or a CHECK constraint depends on object ids',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { uses: tableoidColumnUsesQuery },
  evaluate({ uses }, database) {
    const found = uses.filter(dependsOnNumber);
    if (found.length === 0) return passOutcome('none');
    const columns = found.filter(({ kind }) => kind === 'generated');
    const named = columns.length > 0 ? columns : found;
    const objects = limitFindingObjects(named).map(({ name, definition }) => `${name}: ${definition}`);
    const fix = {
      database,
      by: 'the owner of the tables, or a superuser',
      text: "Compare tableoid with the name of the table, which a dump contains: tableoid = 'schema.table'::regclass. As an alternative, drop the columns and constraints before the migration.",
    };
    const more = { required: "no use of tableoid, or a comparison with 'table'::regclass", objects, fix };
    if (columns.length > 0) {
      return failOutcome(['continuous', 'dump'], countOf(columns.length, 'generated column'), {
        ...more,
        detail: `A table has another OID on the target, and the target computes generated columns itself, so their values differ without an error.${buildUnlistedObjectsNote(columns)}`,
      });
    }
    return {
      ...unknownOutcome(
        `${countOf(found.length, 'constraint')}, and it is not known whether the rows satisfy them on the target`,
      ),
      premise: 'every row satisfies the CHECK constraints with the table OIDs of the target',
      ...more,
      detail: `A table has another OID on the target, which evaluates the constraint for every row: "new row for relation … violates check constraint". Run \`cloudctl db rehearse\` to see whether the rows can be copied.${buildUnlistedObjectsNote(found)}`,
    };
  },
});

/**
 * A comparison of tableoid with the name of a table is dumped with that name, and has the same result on every server.
 */
function dependsOnNumber({ definition }: TableoidColumnUse): boolean {
  const rest = definition.replace(comparisonWithName, '');
  return /\btableoid\b/.test(rest) || convertedName.test(rest);
}

/**
 * Matches the name of an object that is converted to its OID or to text. A dump contains the name; the result of the
 * conversion differs on the target. The OID is different there, and with an empty search_path the text contains the
 * schema.
 */
const convertedName = /'(?:[^']|'')*'::reg\w+\)*::(?:oid|bigint|integer|text|character varying|name)\b/;

const comparisonWithName = /\btableoid(?:\)|::regclass|::oid)*\s*(?:=|<>)\s*\(*'(?:[^']|'')*'::regclass/g;
