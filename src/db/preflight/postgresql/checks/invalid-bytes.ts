import { countOf } from '../../../../base/text.ts';
import { failOutcome, infoOutcome, passOutcome } from '../../finding.ts';
import { declareDatabaseCheck, incompleteScanOutcome, limitObjects, scanOrOutcome, unlistedNote } from '../check.ts';
import { byteClass } from '../deep/rows.ts';

export const invalidBytesCheck = declareDatabaseCheck({
  id: 'invalid-bytes',
  title: 'every text is valid in the encoding of the database',
  headline: 'A text is not valid in the encoding of the database',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: {},
  readsRows: true,
  evaluate(_values, database, facts, options) {
    const read = scanOrOutcome(database, facts, options);
    if ('outcome' in read) return read.outcome;
    const { encoding, invalid, rows } = read.scan;
    const kind = byteClass(encoding);
    if (kind === 'any bytes') return passOutcome(`${encoding} has no invalid bytes`);
    if (kind === 'unknown')
      return infoOutcome(`no check for the encoding ${encoding}`, {
        headline: 'It is not known whether texts are valid in the encoding of the database',
      });
    if (invalid.length === 0) return incompleteScanOutcome(read.scan) ?? passOutcome(countOf(rows, 'row'));
    return failOutcome(['continuous', 'dump'], countOf(invalid.length, 'column'), {
      required: 'none',
      detail: `The source stores these bytes, but no server accepts them as input: "invalid byte sequence for encoding "${encoding}"". The copy fails there on every attempt. Such bytes come from old releases, from functions in C and from casts without a function.${unlistedNote(invalid)}`,
      objects: limitObjects(invalid).map(
        ({ table, column, rows: count }) => `${column} of ${table} (${countOf(count, 'row')})`,
      ),
      fix: { database, by: 'the data owner', text: 'Correct the texts, or delete the rows, before the migration.' },
    });
  },
});
