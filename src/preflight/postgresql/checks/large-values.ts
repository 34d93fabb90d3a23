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
    if (large.length === 0) return pass('no long row, according to the sizes of TOAST tables');
    return {
      ...unknown(`${pluralize(large.length, 'table')} with long values, and the rows were not read`),
      premise: 'no row is longer than 1 GB',
      required: 'rows shorter than 1 GB in text format, in which a bytea value needs two characters for each byte',
      detail: `A server cannot send a row of more than 1 GB, so the copy of such a row fails on every attempt: "invalid memory alloc request size", "out of memory … Cannot enlarge string buffer". The TOAST data of the listed tables is large enough for such a row, which does not prove that such a row exists.${ownerLengthQueries(large)}${unlistedNote(large)}`,
      objects: firstListedObjects(large).map(({ table, bytes }) => `${table} (${binarySizeText(bytes)} of TOAST)`),
      fix: {
        database,
        by: 'the owner of the tables',
        text: 'Before the migration, split values that make a row longer than 1 GB into several rows, or move them to files. If no such row exists, use --accept large-values.',
      },
    };
  },
});
