import { countOf } from '../../../../base/text.ts';
import { quoteIdentifier, requoteSignature } from '../../../../postgresql/quote.ts';
import {
  type CheckOutcome,
  type FindingFix,
  type FixEffect,
  failOutcome,
  passOutcome,
  resultEffect,
  unknownOutcome,
  warnOutcome,
} from '../../finding.ts';
import { declareDatabaseCheck, limitObjects, unlistedNote } from '../check.ts';
import { findUnresolved, type UnresolvedName } from '../function-body/unresolved-names.ts';
import {
  bodiesQuery,
  namedObjectsQuery,
  pathOperatorsQuery,
  type UnqualifiedOperatorUse,
  unqualifiedOperatorUsesQuery,
} from '../queries/function-bodies.ts';
import { functionUsesQuery } from '../queries/function-uses.ts';
import { targetVersionNumber } from '../source-facts.ts';

export const searchPathCheck = declareDatabaseCheck({
  id: 'search-path',
  title: 'functions that are called for each row, and definitions, need no search_path',
  headline: 'A function that is called for each row, or a definition, needs a search_path',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: {
    functionUses: functionUsesQuery,
    functionBodies: bodiesQuery,
    meanings: namedObjectsQuery,
    lostOperators: pathOperatorsQuery,
    bareOperators: unqualifiedOperatorUsesQuery,
  },
  evaluate({ functionUses, functionBodies, meanings, lostOperators, bareOperators }, database, _facts, options) {
    const missing = bareOperators.filter(({ isMissing }) => isMissing);
    if (missing.length > 0) return missingOperators(missing, database);
    // The check `function-results` reports names that mean another object.
    const unresolved = (isRefresh: boolean) =>
      findUnresolved(
        functionUses.filter(({ kind }) => (kind === 'refresh') === isRefresh),
        functionBodies,
        meanings,
        lostOperators,
      ).filter(({ isReplaced }) => !isReplaced);
    const lost = unresolved(false);
    const [first] = lost;
    const target = targetVersionNumber(options);
    if (first === undefined && bareOperators.length === 0 && (target === undefined || target >= 170_000))
      return judgeRefreshes(unresolved(true), database);
    if (first === undefined || (bareOperators.some(({ stores }) => stores) && !lost.some(({ fails }) => fails)))
      return otherOperators(bareOperators, database);
    const functions = firstOfEach(lost);
    const isCertain = functions.some(({ fails }) => fails);
    const more = {
      required: 'schema-qualified names, or a search_path of the function',
      detail: `Rows are copied and applied, and indexes are built, with an empty search_path. CHECK constraints, indexes, generated columns, domains, partition keys and triggers call these functions, whose bodies contain names without a schema: "${nameError(first)}". ${isCertain ? 'The copy fails on every attempt.' : 'The copy fails as soon as a function uses one of these names for a row. Until now the tables have no rows, or only some calls use one of these names.'}${unlistedNote(functions)}`,
      objects: describeFunctions(functions),
      fix: setPath(
        functions,
        database,
        ' A CHECK constraint that reads another table can still fail until the other table is copied.',
      ),
    };
    const observed = countOf(functions.length, 'function');
    if (!isCertain) return warnOutcome(observed, more);
    const isDumped = lost.every(({ fails, onlyContinuous }) => !fails || onlyContinuous);
    return failOutcome(isDumped ? ['continuous'] : ['continuous', 'dump'], observed, more);
  },
});

function firstOfEach(lost: readonly UnresolvedName[]): readonly UnresolvedName[] {
  return lost.filter(({ signature }, at) => lost.findIndex((one) => one.signature === signature) === at);
}

function describeFunctions(functions: readonly UnresolvedName[]): readonly string[] {
  return limitObjects(functions).map(({ signature, kind, name, use }) => `${signature} (${kind} ${name}; ${use})`);
}

function setPath(functions: readonly UnresolvedName[], database: string, note = ''): FindingFix {
  const fixable = functions.filter(({ path }) => path !== undefined);
  return {
    ...(fixable.length === 0
      ? {}
      : {
          sql: fixable.map(
            ({ signature, path = [] }) =>
              `ALTER FUNCTION ${requoteSignature(signature)} SET search_path = ${[...path.map(quoteIdentifier), 'pg_temp'].join(', ')}`,
          ),
          undo: fixable.map(({ signature }) => `ALTER FUNCTION ${requoteSignature(signature)} RESET search_path`),
          effects: [setsSearchPath(fixable.map(({ signature }) => signature))],
        }),
    database,
    by: 'the owner of the functions, or a superuser',
    text: `Set a search_path for the functions, or qualify the names in their bodies. An SQL function with a search_path is not inlined, which can be slower.${fixable.length < functions.length ? ' A name that exists in several schemas must be qualified manually.' : ''}${note}`,
  };
}

function judgeRefreshes(lost: readonly UnresolvedName[], database: string): CheckOutcome {
  const [first] = lost;
  if (first === undefined) return passOutcome('all');
  const functions = firstOfEach(lost);
  return warnOutcome(countOf(functions.length, 'function'), {
    headline: 'A materialized view cannot be refreshed on the target',
    required: 'schema-qualified names, or a search_path of the function',
    detail: `Since PostgreSQL 17 REFRESH MATERIALIZED VIEW uses an empty search_path, whatever the session has: "${nameError(first)}". The materialized views stay empty on the target.${unlistedNote(functions)}`,
    objects: describeFunctions(functions),
    fix: setPath(functions, database),
  });
}

function missingOperators(uses: readonly UnqualifiedOperatorUse[], database: string): CheckOutcome {
  return failOutcome(['continuous', 'dump'], countOf(uses.length, 'definition'), {
    headline: 'A definition needs a search_path',
    required: 'comparisons that a dump can write with the schema of their operator',
    detail: `A dump has no place for the schema of the operator in IS DISTINCT FROM, NULLIF, CASE … WHEN, JOIN … USING and comparisons of rows, and is restored with an empty search_path, so the schema cannot be restored: "operator does not exist: ${uses[0]!.operator}".${unlistedNote(uses)}`,
    objects: describeUses(uses),
    fix: { database, ...comparisonFix },
  });
}

function otherOperators(uses: readonly UnqualifiedOperatorUse[], database: string): CheckOutcome {
  if (uses.length === 0) return passOutcome('all');
  const observed = `${countOf(uses.length, 'definition')} with another operator on the target`;
  const more = {
    headline: 'A definition uses another operator on the target',
    required: 'comparisons that a dump can write with the schema of their operator',
    detail: `A dump has no place for the schema of the operator in IS DISTINCT FROM, NULLIF, CASE … WHEN, JOIN … USING and comparisons of rows, and is restored with an empty search_path. There PostgreSQL finds another operator without an error: citext is compared as text, with regard to upper and lower case. The definition has the same text on both servers, and other results.${unlistedNote(uses)}`,
    objects: describeUses(uses),
    fix: { database, ...comparisonFix },
  };
  if (!uses.some(({ stores }) => stores)) return warnOutcome(observed, more);
  return {
    ...unknownOutcome(observed),
    ...more,
    premise: 'the comparisons have the same results for the stored rows with the operators of pg_catalog',
  };
}

const comparisonFix = {
  by: 'the owner of the objects',
  text: 'Write the comparison with an operator, whose schema a dump includes: NOT coalesce(a = b, a IS NULL AND b IS NULL) for a IS DISTINCT FROM b, CASE WHEN a = b THEN NULL ELSE a END for NULLIF(a, b), CASE WHEN x = y for CASE x WHEN y, JOIN … ON a.k = b.k for USING (k), a = c AND b = d for (a, b) = (c, d).',
};

function describeUses(uses: readonly UnqualifiedOperatorUse[]): readonly string[] {
  return limitObjects(uses).map(({ object, operator }) => `${object} (${operator})`);
}

function setsSearchPath(signatures: readonly string[]): FixEffect {
  return resultEffect(bodiesQuery, (all) =>
    all.map((body) => (signatures.includes(body.signature) ? { ...body, hasPath: true, inlined: false } : body)),
  );
}

function nameError({ kind, name }: UnresolvedName): string {
  if (kind === 'operator') return `operator does not exist: … ${name} …`;
  return `${kind} ${kind === 'function' ? `${name}(…)` : `"${name}"`} does not exist`;
}
