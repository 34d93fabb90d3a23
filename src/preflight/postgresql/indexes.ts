import { info, pass, warn } from '../finding.ts';
import { unvalidated } from './asks/constraints.ts';
import { type InvalidIndex, invalidIndexes } from './asks/indexes.ts';
import { databaseCheck } from './check.ts';
import { shown, unlisted } from './names.ts';
import { count } from './units.ts';

export const invalidIndex = databaseCheck({
  id: 'invalid-index',
  title: 'every index is valid',
  asks: { invalidIndexes },
  judge({ invalidIndexes }, database, { entry }) {
    if (invalidIndexes.length === 0) return pass('all');
    const isOld = entry.kind === 'entered' && entry.version < 120_000;
    const isUnique = invalidIndexes.some(({ unique }) => unique);
    return warn(count(invalidIndexes.length, 'index', 'indexes'), {
      required: 'none',
      detail: `What CREATE INDEX or REINDEX CONCURRENTLY left when it broke off, or is building now. The target builds it as a valid one${isUnique ? ', and a unique one fails there when the rows hold duplicates: "could not create unique index"' : ''}.${unlisted(invalidIndexes)}`,
      objects: shown(invalidIndexes).map(
        ({ name, table, unique }) => `${name} on ${table}${unique ? ' (unique)' : ''}`,
      ),
      fix: {
        sql: invalidIndexes.map((index) => cureOf(index, isOld)),
        database,
        by: 'the owner of the tables, or a superuser',
        text: 'Build it again, or drop it: names that end in _ccnew or _ccold are only remains. There is nothing to undo.',
      },
    });
  },
});

export const notValid = databaseCheck({
  id: 'not-valid',
  title: 'every constraint was validated',
  asks: { unvalidated },
  judge({ unvalidated }) {
    if (unvalidated.length === 0) return pass('all');
    return info(count(unvalidated.length, 'constraint'), {
      detail: `Rows from before were never checked against them. They are NOT VALID on the target too, and nothing fails.${unlisted(unvalidated)}`,
      objects: shown(unvalidated),
    });
  },
});

/** Without CONCURRENTLY writers wait: so before 12, and always for an exclusion constraint. */
function cureOf({ name, exclusion }: InvalidIndex, isOld: boolean): string {
  if (/_cc(new|old)\d*"?$/.test(name)) return `DROP INDEX IF EXISTS ${name}`;
  return `REINDEX INDEX ${exclusion || isOld ? '' : 'CONCURRENTLY '}${name}`;
}
