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
    const uniques = invalidIndexes.filter((index) => index.unique && !isRemains(index));
    const curable = invalidIndexes.filter((index) => !uniques.includes(index));
    return warn(count(invalidIndexes.length, 'index', 'indexes'), {
      required: 'none',
      detail: `What CREATE INDEX or REINDEX CONCURRENTLY left when it broke off, or is building now. It is left out on the target, and nothing fails there${uniques.length === 0 ? '' : '; a unique one often broke off because the rows hold duplicates, and the target does not refuse them either'}.${unlisted(invalidIndexes)}`,
      objects: shown(invalidIndexes).map(
        ({ name, table, unique }) => `${name} on ${table}${unique ? ' (unique)' : ''}`,
      ),
      fix: {
        ...(curable.length === 0 ? {} : { sql: curable.map((index) => cureOf(index, isOld)) }),
        database,
        by: 'the owner of the tables, or a superuser',
        text: `Build it again, or drop it: names that end in _ccnew or _ccold are only remains. ${uniques.length === 0 ? '' : `A unique one is built only where no duplicates are left: remove them and REINDEX, or DROP INDEX (${shown(uniques.map(({ name }) => name)).join(', ')}).${unlisted(uniques)} `}There is nothing to undo.`,
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
      detail: `Rows from before were never checked against them. They are NOT VALID on the target too, and nothing looks at a foreign key while rows are copied; but a CHECK or a NOT NULL holds for every row that comes, and an old one that violates it ends the copy, each time it is tried. ALTER TABLE … VALIDATE CONSTRAINT tells whether there is one.${unlisted(unvalidated)}`,
      objects: shown(unvalidated),
    });
  },
});

/**
 * Without CONCURRENTLY writers wait: so before 12, and always for an exclusion constraint. A unique index is not built here: over
 * duplicates it fails, which ends the whole script and leaves another invalid one.
 */
function cureOf(index: InvalidIndex, isOld: boolean): string {
  const { name, exclusion } = index;
  if (isRemains(index)) return `DROP INDEX IF EXISTS ${name}`;
  return `REINDEX INDEX ${exclusion || isOld ? '' : 'CONCURRENTLY '}${name}`;
}

function isRemains({ name }: InvalidIndex): boolean {
  return /_cc(new|old)\d*"?$/.test(name);
}
