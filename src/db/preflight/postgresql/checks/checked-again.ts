import { countOf } from '../../../../base/text.ts';
import { passOutcome, unknownOutcome } from '../../finding.ts';
import { declareDatabaseCheck, unlistedNote } from '../check.ts';
import { describeUnproven, findUnproven } from '../expression-results.ts';
import { alteredDictionariesQuery, callableObjectsQuery } from '../queries/callables.ts';
import { bodiesQuery } from '../queries/function-bodies.ts';
import { roleSettingsQuery } from '../queries/roles.ts';
import { settingsQuery } from '../queries/settings.ts';
import { storedExpressionsQuery } from '../queries/stored-expressions.ts';
import { listSettingsOfSource } from '../settings.ts';
import { isOtherMajor } from '../source-facts.ts';

/** Whether the migration can fail; the check `computed-again` asks whether values can change. */
export const checkedAgainCheck = declareDatabaseCheck({
  id: 'checked-again',
  title: 'stored rows satisfy every constraint when it is evaluated again',
  headline: 'A constraint or an index may reject stored rows on the target',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: {
    expressions: storedExpressionsQuery,
    callables: callableObjectsQuery,
    alteredDictionaries: alteredDictionariesQuery,
    functionBodies: bodiesQuery,
    settings: settingsQuery,
    roleSettings: roleSettingsQuery,
  },
  evaluate(
    { expressions, callables, alteredDictionaries, functionBodies, settings, roleSettings },
    database,
    facts,
    options,
  ) {
    const checked = expressions.filter(({ kind }) => kind !== 'generated');
    const found = findUnproven(checked, callables, functionBodies, {
      isOtherRelease: isOtherMajor(facts, options),
      alteredDictionaries,
      settings: listSettingsOfSource(database, settings, roleSettings, facts),
    });
    if (found.length === 0) return passOutcome(checked.length === 0 ? 'none' : 'unchanged functions and types only');
    const { objects, queries } = describeUnproven(found);
    return {
      ...unknownOutcome(`${countOf(found.length, 'expression')} that may reject stored rows`),
      premise: 'the stored rows satisfy the constraints when the target evaluates them again',
      required:
        'functions and types that have not changed since the rows were stored, with the same results on both servers',
      detail: `CHECK constraints, domains, indexes and partition keys were evaluated when a row was written. The target evaluates them again with the functions and types of today and of its release; a row that does not satisfy them is not copied: "new row for relation … violates check constraint", "duplicate key value violates unique constraint".${queries}${unlistedNote(found)}`,
      objects,
      fix: {
        database,
        by: 'the owner of the tables',
        text: 'Run the queries of the finding on the source, and on a copy in the release of the target: they count the rows or keys that violate a constraint. Correct these rows, or run `cloudctl db rehearse`, then use --accept checked-again.',
      },
    };
  },
});
