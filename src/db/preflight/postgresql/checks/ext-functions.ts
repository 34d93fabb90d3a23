import { countOf } from '../../../../base/text.ts';
import { catalogOids } from '../../../../postgresql/catalog-oids.ts';
import { failOutcome, passOutcome, warnOutcome } from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { featureCondition } from '../queries/database-overview.ts';
import { functionDependentsCte, functionUsesSql } from '../queries/function-uses.ts';
import { column, columns, rowsQuery } from '../query.ts';
import { sourceVersionNumber, targetVersionNumber } from '../source-facts.ts';

/** earth() is the only function of the extension that calls no other one; the domain earth calls only earth(). */
const ofEarthdistance = `
  EXISTS (
    SELECT FROM pg_depend e
    JOIN pg_extension x ON x.oid = e.refobjid
    JOIN pg_proc p ON p.oid = e.objid
    WHERE e.classid = '${catalogOids.pg_proc}'
      AND e.objid = d.refobjid
      AND e.refclassid = '${catalogOids.pg_extension}'
      AND e.deptype = 'e'
      AND x.extname = 'earthdistance'
      AND p.proname <> 'earth'
  )
`;

/** An object that calls a function of the extension earthdistance for rows. */
const earthdistanceUsesQuery = rowsQuery({
  id: 'earthdistance-uses',
  scope: 'database',
  when: featureCondition('called-functions'),
  sql: (version) => `
     ${functionDependentsCte(ofEarthdistance)}
    SELECT u.name, u.filled OR u.kind IN ('index', 'unique', 'generated', 'partition') AS needed
    FROM (${functionUsesSql(version)}) u
  `,
  row: columns({
    /** The calling object, such as `index i on public.t`. */
    name: column.text('name'),
    /** Whether the function is called while the schema is created, or for existing rows. */
    needed: column.boolean('needed'),
  }),
});

/** The major version 16, whose earthdistance 1.2 resolves the names in its functions when they are created. */
const earthdistanceFixedSince = 160_000;

export const extFunctionsCheck = declareDatabaseCheck({
  id: 'ext-functions',
  title: 'functions of extensions need no search_path on the target',
  headline: 'A function of an extension needs a search_path on the target',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: { earthUses: earthdistanceUsesQuery },
  evaluate({ earthUses }, database, facts, options) {
    const target = targetVersionNumber(options);
    // The target can be assumed to have PostgreSQL 16 if the source has it, because the target is never older than the
    // source.
    const least = target ?? sourceVersionNumber(facts);
    if (earthUses.length === 0 || least >= earthdistanceFixedSince) return passOutcome('all');
    const observed = `${countOf(earthUses.length, 'use')} of earthdistance`;
    const more = {
      required: 'a target with PostgreSQL 16 or newer, or no use of earthdistance functions',
      detail: `Before PostgreSQL 16 the functions of earthdistance refer to each other and to cube without a schema, but rows are copied and indexes are built with an empty search_path: "type "earth" does not exist", "function cube(…) does not exist". An index on ll_to_earth(…) cannot be created, so the schema cannot be restored.${unlistedNote(earthUses)}`,
      objects: limitObjects(earthUses).map(({ name }) => name),
      fix: {
        database,
        by: 'the owner of the tables',
        text: 'Use a target with PostgreSQL 16 or newer. Otherwise drop the objects that call these functions and create them on the target after the cut-over. ALTER FUNCTION … SET search_path does not help, because the target creates the functions with the extension.',
      },
    };
    if (target === undefined || !earthUses.some(({ needed }) => needed)) return warnOutcome(observed, more);
    return failOutcome(['continuous', 'dump'], observed, more);
  },
});
