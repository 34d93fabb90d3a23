import { parseMajorVersion } from '../../../postgresql/version.ts';
import { type CheckOutcome, fail, pass, warn } from '../../finding.ts';
import { databaseCheck } from '../check.ts';
import { firstObjects, unlistedNote } from '../object-list.ts';
import { incompatibleCallsQuery } from '../queries/incompatible-calls.ts';
import { incompatibleDefinitionsQuery } from '../queries/incompatible-definitions.ts';
import { incompatibleFunctionsQuery } from '../queries/incompatible-functions.ts';
import type { IncompatibleObject } from '../queries/incompatible-object.ts';
import { incompatibleOperatorsQuery } from '../queries/incompatible-operators.ts';
import { incompatibleViewsQuery } from '../queries/incompatible-views.ts';
import { type RemovedTypeUse, removedTypeUsesQuery } from '../queries/removed-type-uses.ts';
import { countText } from '../units.ts';

export const removedTypesCheck = databaseCheck({
  id: 'removed-types',
  title: 'no object needs a feature that the target version removed',
  headline: 'An object needs a feature that newer versions removed',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: {
    removedUses: removedTypeUsesQuery,
    outdatedViews: incompatibleViewsQuery,
    outdatedOperators: incompatibleOperatorsQuery,
    outdatedCalls: incompatibleCallsQuery,
    outdatedDefinitions: incompatibleDefinitionsQuery,
    outdatedFunctions: incompatibleFunctionsQuery,
  },
  evaluate(asked, database, _ground, { targetVersion }) {
    const { removedUses, outdatedViews, outdatedOperators, outdatedCalls, outdatedDefinitions, outdatedFunctions } =
      asked;
    if (removedUses.length > 0) return withoutTables(removedUses, database);
    const target = targetVersion === undefined ? undefined : parseMajorVersion(targetVersion);
    const found = [
      ...outdatedOperators,
      ...outdatedViews,
      ...outdatedCalls,
      ...outdatedDefinitions,
      ...outdatedFunctions,
    ].filter(({ since }) => target === undefined || since * 10_000 <= target);
    if (found.length === 0) return pass('none');
    const objects = [...new Set(found.map(({ object }) => object))];
    const named = (object: string) => found.filter((one) => one.object === object);
    const more = {
      required: 'nothing that the release of the target does not have',
      detail: `${found[0]!.since === 0 ? 'No release can' : `PostgreSQL ${found[0]!.since} and newer cannot`} make ${objects[0]}, and so not the schema: ${words(found[0]!)}.${unlistedNote(objects)}`,
      objects: firstObjects(objects).map(
        (object) =>
          `${object} (${named(object)
            .map(({ needs, since }) => (since === 0 ? needs : `${needs}, since ${since}`))
            .join('; ')})`,
      ),
      fix: {
        database,
        by: 'their owner, or a superuser',
        text: `Keep what they say, drop them here before the migration${dropping(objects)}, and make them on the target as its release wants them.${altering(found)}`,
      },
    };
    const observed = countText(objects.length, 'object');
    // Which of them the target lacks is not known without its release.
    const isKnown = target !== undefined || found.some(({ since }) => since === 0);
    return isKnown ? fail(['continuous', 'dump'], observed, more) : warn(observed, more);
  },
});

/** Those that a word and the name drop. */
function dropping(objects: readonly string[]): string {
  const told = objects
    .filter((object) => /^(materialized view|view|function|procedure|operator|aggregate|index) /.test(object))
    .slice(0, 3)
    .map((object) => `DROP ${object.replace(/^\w+( view)?/, (kind) => kind.toUpperCase())}`);
  return told.length === 0 ? '' : ` (${told.join('; ')})`;
}

/** What is refused for how it is defined need not be dropped. */
function altering(found: readonly IncompatibleObject[]): string {
  const ofFunctions = (one: IncompatibleObject) => /^(internal function|setting) /.test(one.needs);
  const settings = found.some(({ needs }) => needs.startsWith('setting '));
  const definitions = found.some((one) => one.says !== undefined && one.since > 0 && !ofFunctions(one));
  return [
    definitions
      ? ' A name is changed with ALTER … RENAME CONSTRAINT, a column with ALTER COLUMN … DROP EXPRESSION, DROP IDENTITY or TYPE … COLLATE; an unlogged partitioned table is made anew.'
      : '',
    settings ? ' A setting of a function goes with ALTER FUNCTION … RESET …, and the function stays.' : '',
  ].join('');
}

/** As the server will say it. */
function words({ object, needs, says }: IncompatibleObject): string {
  if (says !== undefined) return `"${says}"`;
  if (needs.startsWith('column ')) return `"${needs} does not exist"`;
  if (/^(operator|function) /.test(needs)) return `"${needs} does not exist", or a syntax error`;
  return object.startsWith('aggregate')
    ? '"function array_append(anyarray, anyelement) does not exist"'
    : '"operator right argument type must be specified"';
}

function withoutTables(removedUses: readonly RemovedTypeUse[], database: string): CheckOutcome {
  const oids = removedUses.filter(({ column }) => column === undefined).map(({ table }) => table);
  const names = removedUses.map(({ table, column }) => `${table} (${column ?? 'WITH OIDS'})`);
  return fail(['continuous', 'dump'], countText(removedUses.length, 'use'), {
    required: 'none: PostgreSQL 12 and newer have neither WITH OIDS nor abstime, reltime, tinterval',
    detail: `The target cannot make these tables: "tables declared WITH OIDS are not supported", "type "abstime" does not exist".${unlistedNote(names)}`,
    objects: firstObjects(names),
    fix: {
      sql: oids.map((table) => `ALTER TABLE ${table} SET WITHOUT OIDS`),
      database,
      by: 'the owner of the tables, or a superuser',
      text: 'SET WITHOUT OIDS drops the oids for good, and nothing brings them back. Columns of a type that is gone become timestamptz or interval: ALTER TABLE … ALTER COLUMN … TYPE ….',
    },
  });
}
