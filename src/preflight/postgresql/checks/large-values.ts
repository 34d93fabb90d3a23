import { pass, unknown } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { firstListedObjects, unlistedNote } from '../object-list.ts';
import { ownerLengthQueries } from '../owner-queries.ts';
import { largeValuesQuery } from '../queries/large-values.ts';
import { binarySizeText, pluralize } from '../units.ts';

export const largeValuesCheck = databaseCheck({
  id: 'large-values',
  title: 'no row can be longer than 1 GB',
  headline: 'A row may be longer than 1 GB',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { large: largeValuesQuery },
  evaluate({ large }, database) {
    if (large.length === 0) return pass('none, by the size of TOAST tables');
    return {
      ...unknown(`${pluralize(large.length, 'table')} with long values, and the rows were not read`),
      premise: 'no row is longer than 1 GB',
      required: 'rows that are shorter than 1 GB as text, where bytea counts twice',
      detail: `A server cannot send a longer row, so its copy fails on every attempt: "invalid memory alloc request size", "out of memory … Cannot enlarge string buffer". The TOAST tables of these tables are large enough for such a row, which does not mean that there is one.${ownerLengthQueries(large)}${unlistedNote(large)}`,
      objects: firstListedObjects(large).map(({ table, bytes }) => `${table} (${binarySizeText(bytes)} of TOAST)`),
      fix: {
        database,
        by: 'the owner of the tables',
        text: 'Split such values into several rows, or move them to files, before the migration. Without such a row, use --accept large-values.',
      },
    };
  },
});
