import { countOf } from '../../../../base/text.ts';
import { passOutcome, unknownOutcome } from '../../finding.ts';
import { declareDatabaseCheck, unlistedNote } from '../check.ts';
import { describeUnproven, findUnproven } from '../expression-results.ts';
import { alteredDictionariesQuery, callableObjectsQuery } from '../queries/callables.ts';
import { databasesQuery, findDatabase, type PostgresqlDatabase } from '../queries/cluster.ts';
import { bodiesQuery } from '../queries/function-bodies.ts';
import { roleSettingsQuery } from '../queries/roles.ts';
import { settingsQuery } from '../queries/settings.ts';
import { storedExpressionsQuery } from '../queries/stored-expressions.ts';
import { listSettingsOfSource } from '../settings.ts';
import { isOtherMajor, sourceVersionNumber, targetVersionNumber } from '../source-facts.ts';

/** Whether values can change without an error; the check `checked-again` asks whether the migration can fail. */
export const computedAgainCheck = declareDatabaseCheck({
  id: 'computed-again',
  title: 'generated columns have the same values when they are computed again',
  headline: 'A generated column may have other values on the target',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: {
    expressions: storedExpressionsQuery,
    callables: callableObjectsQuery,
    alteredDictionaries: alteredDictionariesQuery,
    functionBodies: bodiesQuery,
    settings: settingsQuery,
    roleSettings: roleSettingsQuery,
    databases: databasesQuery,
  },
  evaluate(
    { expressions, callables, alteredDictionaries, functionBodies, settings, roleSettings, databases },
    database,
    facts,
    options,
  ) {
    const generated = expressions.filter(({ kind }) => kind === 'generated');
    const found = findUnproven(generated, callables, functionBodies, {
      isOtherRelease: isOtherMajor(facts, options),
      hasOtherLetters:
        sourceVersionNumber(facts) < 180_000 &&
        (targetVersionNumber(options) ?? 180_000) >= 180_000 &&
        hasOtherLetters(findDatabase(databases, database)),
      alteredDictionaries,
      settings: listSettingsOfSource(database, settings, roleSettings, facts),
    });
    if (found.length === 0) return passOutcome(generated.length === 0 ? 'none' : 'the same functions on both servers');
    const { objects, queries } = describeUnproven(found);
    return {
      ...unknownOutcome(`${countOf(found.length, 'column')} that the target may compute differently`),
      premise: 'the target computes the same values of generated columns as the source stored',
      required:
        'functions and types that have not changed since the table was created, with the same results on both servers',
      detail: `Generated columns are not copied: the target computes them with the functions and types of today and of its release. A value that was stored with an earlier function, type or release is replaced without an error.${queries}${unlistedNote(found)}`,
      objects,
      fix: {
        database,
        by: 'the owner of the tables',
        text: 'Run the queries of the finding on the source and, after `cloudctl db rehearse`, on its copy: equal results mean equal values; then use --accept computed-again. To keep stored values that the function would change, make the column an ordinary one before the migration (ALTER TABLE … ALTER COLUMN … DROP EXPRESSION).',
      },
    };
  },
});

/**
 * Whether the collation provider of the database knows other letters than its LC_CTYPE, which text search used before
 * PostgreSQL 18. Turkish, Azerbaijani and Lithuanian have rules of their own in ICU.
 */
function hasOtherLetters(found: PostgresqlDatabase | undefined): boolean {
  if (found === undefined || found.provider === 'c') return false;
  const isPlain = (locale: string) => /^(?:c|posix)$/i.test(locale);
  const { ctype, locale = '' } = found;
  return isPlain(ctype) !== isPlain(locale) || (found.provider === 'i' && /^(?:tr|az|lt)\b/i.test(locale));
}
