import { countOf } from '../../../../base/text.ts';
import { firstNormalOid, typeOids } from '../../../../postgresql/catalog-oids.ts';
import { singleLineSql } from '../../../../postgresql/psql-script.ts';
import { requoteName } from '../../../../postgresql/quote.ts';
import { decodeOptionalText, decodeText } from '../../../../postgresql/rows.ts';
import {
  type CheckOutcome,
  failOutcome,
  joinUnknown,
  passOutcome,
  removalEffect,
  unknownOutcome,
  warnOutcome,
} from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import {
  type IncompatibleObject,
  incompatibleCallsQuery,
  incompatibleOperatorsQuery,
  movedColumnsNeed,
  movedMemberNeed,
  noDefaultNeed,
  removedExtensionOperatorsQuery,
} from '../queries/incompatible-calls.ts';
import { incompatibleDefinitionsQuery, triggerStateNeed } from '../queries/incompatible-definitions.ts';
import { incompatibleFunctionsQuery, onePartNeed } from '../queries/incompatible-functions.ts';
import { incompatibleViewsQuery } from '../queries/incompatible-views.ts';
import { type OverloadedCall, overloadedCallsQuery } from '../queries/overloaded-calls.ts';
import { takenNameNeed, takenNamesQuery } from '../queries/taken-names.ts';
import type { PostgresqlQuery } from '../query.ts';
import { targetVersionNumber } from '../source-facts.ts';

/** Tables WITH OIDS, and columns of the types abstime, reltime and tinterval: PostgreSQL 12 removed them. */
interface RemovedTypeUse {
  readonly table: string;
  /** The column, quoted, with its type; undefined if the table is WITH OIDS. */
  readonly column: string | undefined;
}

const removedTypes = [
  typeOids.abstime,
  typeOids.reltime,
  typeOids.tinterval,
  typeOids.abstimeArray,
  typeOids.reltimeArray,
  typeOids.tintervalArray,
];

export const removedTypesQuery: PostgresqlQuery<readonly RemovedTypeUse[]> = {
  id: 'removed-type-uses',
  scope: 'database',
  sql: (version) =>
    version >= 120_000
      ? undefined
      : `
        SELECT oid::regclass AS name, NULL AS described
        FROM pg_class
        WHERE relhasoids
          AND oid >= ${firstNormalOid}
          AND relkind IN ('r', 'p')
          AND relpersistence <> 't'
        UNION ALL
        SELECT c.oid::regclass, quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod)
        FROM pg_attribute a
        JOIN pg_class c ON c.oid = a.attrelid
        WHERE a.atttypid IN (${removedTypes.join(', ')})
          AND a.attnum > 0
          AND NOT a.attisdropped
          AND c.oid >= ${firstNormalOid}
          AND c.relkind IN ('r', 'p', 'c', 'f')
          AND c.relpersistence <> 't'
      `,
  decode: (rows) =>
    rows.map((row) => ({ table: decodeText(row, 'name'), column: decodeOptionalText(row, 'described') })),
  absent: [],
};

export const removedTypesCheck = declareDatabaseCheck({
  id: 'removed-types',
  title: 'no object needs a feature that the target version removed',
  headline: 'An object needs a feature that newer versions removed',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: {
    removedUses: removedTypesQuery,
    outdatedViews: incompatibleViewsQuery,
    outdatedOperators: incompatibleOperatorsQuery,
    outdatedCalls: incompatibleCallsQuery,
    outdatedExtensions: removedExtensionOperatorsQuery,
    outdatedDefinitions: incompatibleDefinitionsQuery,
    outdatedFunctions: incompatibleFunctionsQuery,
    overloadedCalls: overloadedCallsQuery,
    takenNames: takenNamesQuery,
  },
  evaluate(values, database, _ground, options) {
    const { removedUses, ...outdated } = values;
    if (removedUses.length > 0) return removedTypeUses(removedUses, database);
    const target = targetVersionNumber(options);
    const found = [
      ...outdated.outdatedOperators,
      ...outdated.outdatedViews,
      ...outdated.outdatedCalls,
      ...outdated.outdatedExtensions,
      ...outdated.outdatedDefinitions,
      ...outdated.outdatedFunctions.filter(({ needs }) => needs !== onePartNeed),
      ...outdated.overloadedCalls.flatMap(ambiguousCall),
      ...outdated.takenNames,
    ].filter(({ since }) => target === undefined || since * 10_000 <= target);
    const isMoved = ({ needs }: IncompatibleObject) => needs.startsWith(movedColumnsNeed);
    const isDefault = ({ needs }: IncompatibleObject) => needs === noDefaultNeed;
    if (found.every((one) => isMoved(one) || isDefault(one))) {
      return [lostDefaults(found.filter(isDefault), database), otherCalls(outdated.overloadedCalls, database)].reduce(
        joinUnknown,
        movedColumns(found.filter(isMoved), database),
      );
    }
    const blocking = found.filter((one) => !isDefault(one));
    const objects = [...new Set(blocking.map(({ object }) => object))];
    const named = (object: string) => blocking.filter((one) => one.object === object);
    const more = {
      required: 'only features that the target version has',
      detail: `${blocking[0]!.since === 0 ? 'No version can' : `PostgreSQL ${blocking[0]!.since} and newer cannot`} create ${objects[0]}, so the schema cannot be restored: ${restoreError(blocking[0]!)}.${unlistedNote(objects)}`,
      objects: limitObjects(objects).map(
        (object) =>
          `${object} (${named(object)
            .map(({ needs, since }) => (since === 0 ? needs : `${needs}, since ${since}`))
            .join('; ')})`,
      ),
      fix: {
        database,
        by: 'the owner of the objects, or a superuser',
        text: `Save the definitions, drop the objects before the migration${dropExamples(objects)}, and create them on the target in a form that its version supports.${alterHints(blocking)}`,
      },
    };
    const observed = countOf(objects.length, 'object');
    // Without the version of the target it is not known which of the objects the target rejects.
    const isKnown = target !== undefined || blocking.some(({ since }) => since === 0);
    return isKnown ? failOutcome(['continuous', 'dump'], observed, more) : warnOutcome(observed, more);
  },
});

const oneFunctionNeed = 'a function name without ';

function ambiguousCall({ object, call, other, isAmbiguous }: OverloadedCall): readonly IncompatibleObject[] {
  if (!isAmbiguous) return [];
  return [{ object, needs: `${oneFunctionNeed}${other}`, since: 0, says: `function ${call} is not unique` }];
}

/** A function that was added later fits a call better: the target takes it without an error. */
function otherCalls(calls: readonly OverloadedCall[], database: string): CheckOutcome {
  if (calls.length === 0) return passOutcome('none');
  const observed = `${countOf(calls.length, 'definition')} that may call another function on the target`;
  const more = {
    headline: 'A definition may call another function on the target',
    required: 'functions of one name whose arguments PostgreSQL cannot confuse',
    detail: `A dump has the text of a call, and the target finds its function by the types of the arguments. A function of the same name that was added later may fit better: the definition has the same text on both servers, and other results.${unlistedNote(calls)}`,
    objects: limitObjects(calls).map(({ object, call, other }) => `${object} (${call}, or ${other})`),
    fix: {
      database,
      by: 'the owner of the objects',
      text: 'Rename the function that was added later, or create the objects again, so that both servers take the same function.',
    },
  };
  if (!calls.some(({ stores }) => stores)) return warnOutcome(observed, more);
  return {
    ...unknownOutcome(observed),
    ...more,
    premise: 'the expressions have the same results for the stored rows with the functions that the target finds',
  };
}

function lostDefaults(found: readonly IncompatibleObject[], database: string): CheckOutcome {
  if (found.length === 0) return passOutcome('none');
  return {
    ...unknownOutcome(`${countOf(found.length, 'domain')} that the target gives a default`),
    headline: 'A domain gets the default of its base domain',
    premise: 'the domains may have the default of their base domain on the target',
    required: 'domains with a default of their own, or with that of their base domain',
    detail: `A domain takes the default of its base domain when it is created, and a dump does not write that these domains have none.${unlistedNote(found)}`,
    objects: limitObjects(found).map(({ object }) => object),
    fix: {
      database,
      by: 'the owner of the domains',
      text: 'On the target, run ALTER DOMAIN … DROP DEFAULT for the domains before the cut-over; replicated rows have all values.',
    },
  };
}

function movedColumns(found: readonly IncompatibleObject[], database: string): CheckOutcome {
  if (found.length === 0) return passOutcome('none');
  return {
    ...unknownOutcome(`${countOf(found.length, 'view')} of a function that has other columns on the target`),
    headline: 'A view of a function may show other columns',
    premise: 'the views show the same columns of the function on the target',
    required: 'views of system views, whose columns are found by name',
    detail: `A view has the columns of a function by their position, and the newer version has others between them: the view is created and shows them under the old names, or is refused: "column reference … is ambiguous".${unlistedNote(found)}`,
    objects: limitObjects(found).map(({ object, needs, since }) => `${object} (${needs}, since ${since})`),
    fix: {
      database,
      by: 'the owner of the views',
      text: 'Select from a system view such as pg_stat_activity or pg_stat_statements instead of its function, or create the views again on the target.',
    },
  };
}

/** Examples of DROP statements for objects, by kind and name. */
function dropExamples(objects: readonly string[]): string {
  const statements = objects
    .filter((object) => /^(materialized view|view|function|procedure|operator|aggregate|index) /.test(object))
    .slice(0, 3)
    .map((object) => `DROP ${object.replace(/^\w+( view)?/, (kind) => kind.toUpperCase())}`)
    .filter((statement) => singleLineSql(statement) === `${statement};`);
  return statements.length === 0 ? '' : ` (${statements.join('; ')})`;
}

/** Objects that the target rejects because of their definition can be altered instead of dropped. */
function alterHints(found: readonly IncompatibleObject[]): string {
  const isNotAltered = (one: IncompatibleObject) =>
    /^(internal function|setting|no cast|no operator class|a function name without|a name that) /.test(one.needs);
  const settings = found.some(({ needs }) => needs.startsWith('setting '));
  const definitions = found.some((one) => one.says !== undefined && one.since > 0 && !isNotAltered(one));
  return [
    found.some(({ needs }) => needs.startsWith(oneFunctionNeed))
      ? ' Of two functions that fit a call, drop or rename one; the other objects can stay.'
      : '',
    found.some(({ needs }) => needs.startsWith(takenNameNeed))
      ? ' Rename an object whose name is taken (ALTER … RENAME TO …, RENAME CONSTRAINT … TO …); it can stay.'
      : '',
    found.some(({ needs }) => needs.includes(movedMemberNeed))
      ? ' Move members of an extension back to its schema (ALTER … SET SCHEMA …); nothing need be dropped.'
      : '',
    found.some(({ needs }) => needs.startsWith(triggerStateNeed))
      ? ' Give the triggers of foreign keys one state in a partitioned table and its partitions (ALTER TABLE … ENABLE TRIGGER ALL); nothing need be dropped.'
      : '',
    definitions
      ? ' Change a name with ALTER … RENAME CONSTRAINT, a column with ALTER COLUMN … DROP EXPRESSION, DROP IDENTITY or TYPE … COLLATE; re-create an unlogged partitioned table.'
      : '',
    settings ? ' Remove a setting of a function with ALTER FUNCTION … RESET …; the function need not be dropped.' : '',
  ].join('');
}

/** The error message with which the target rejects the object. */
function restoreError({ object, needs, says }: IncompatibleObject): string {
  if (says !== undefined) return `"${says}"`;
  if (needs.startsWith('column ')) return `"${needs} does not exist"`;
  if (needs.startsWith('columns of '))
    return '"table … has … columns available but … columns specified", or "column … does not exist"';
  if (/^(operator|function) /.test(needs)) return `"${needs} does not exist", or a syntax error`;
  return object.startsWith('aggregate')
    ? '"function array_append(anyarray, anyelement) does not exist"'
    : '"operator right argument type must be specified"';
}

function removedTypeUses(removedUses: readonly RemovedTypeUse[], database: string): CheckOutcome {
  const withOids = removedUses.filter(({ column }) => column === undefined);
  const oids = withOids.map(({ table }) => table);
  const names = removedUses.map(({ table, column }) => `${table} (${column ?? 'WITH OIDS'})`);
  return failOutcome(['continuous', 'dump'], countOf(removedUses.length, 'use'), {
    required:
      'no tables WITH OIDS and no columns of the types abstime, reltime and tinterval, which PostgreSQL 12 and newer do not support',
    detail: `The target cannot create the listed tables: "tables declared WITH OIDS are not supported", "type "abstime" does not exist".${unlistedNote(names)}`,
    objects: limitObjects(names),
    fix: {
      sql: oids.map((table) => `ALTER TABLE ${requoteName(table)} SET WITHOUT OIDS`),
      effects: [removalEffect(removedTypesQuery, withOids)],
      database,
      by: 'the owner of the tables, or a superuser',
      text: 'SET WITHOUT OIDS removes the OIDs permanently. Change columns of a removed type to timestamptz or interval: ALTER TABLE … ALTER COLUMN … TYPE ….',
    },
  });
}
