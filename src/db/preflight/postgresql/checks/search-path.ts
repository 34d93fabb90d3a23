import { countOf } from '../../../../base/text.ts';
import { quoteIdentifier, requoteSignature } from '../../../../postgresql/quote.ts';

import {
  buildQueryResultFixEffect,
  failOutcome,
  type PreflightFixEffect,
  passOutcome,
  warnOutcome,
} from '../../finding.ts';

import { buildUnlistedObjectsNote, declareDatabasePreflightCheck, limitFindingObjects } from '../check.ts';
import { findUnresolvedFunctionBodyNames, type UnresolvedFunctionBodyName } from '../function-body/unresolved-names.ts';

import {
  functionAndViewBodiesQuery,
  objectsNamedInFunctionBodiesQuery,
  searchPathOperatorsQuery,
} from '../queries/function-bodies.ts';
import { userFunctionUsesQuery } from '../queries/function-uses.ts';

export const searchPathCheck = declareDatabasePreflightCheck({
  id: 'search-path',
  title: 'functions that are called for each row need no search_path',
  headline: 'A function that is called for each row needs a search_path',
  severity: { continuous: 'blocker', dump: 'blocker' },
  queries: {
    functionUses: userFunctionUsesQuery,
    functionBodies: functionAndViewBodiesQuery,
    meanings: objectsNamedInFunctionBodiesQuery,
    lostOperators: searchPathOperatorsQuery,
  },
  evaluate({ functionUses, functionBodies, meanings, lostOperators }, database) {
    const lost = findUnresolvedFunctionBodyNames(functionUses, functionBodies, meanings, lostOperators);
    const [first] = lost;
    if (first === undefined) return passOutcome('all');
    const functions = lost.filter(({ signature }, at) => lost.findIndex((one) => one.signature === signature) === at);
    const isCertain = functions.some(({ fails }) => fails);
    const fixable = functions.filter(({ path }) => path !== undefined);
    const more = {
      required: 'schema-qualified names, or a search_path of the function',
      detail: `Rows are copied and applied, and indexes are built, with an empty search_path. CHECK constraints, indexes, generated columns, domains, partition keys and triggers call these functions, whose bodies contain names without a schema: "${nameError(first)}". ${isCertain ? 'The copy fails on every attempt.' : 'The copy fails as soon as a function uses one of these names for a row. Until now the tables have no rows, or only some calls use one of these names.'}${buildUnlistedObjectsNote(functions)}`,
      objects: limitFindingObjects(functions).map(
        ({ signature, kind, name, use }) => `${signature} (${kind} ${name}; ${use})`,
      ),
      fix: {
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
        text: `Set a search_path for the functions, or qualify the names in their bodies. An SQL function with a search_path is not inlined, which can be slower.${fixable.length < functions.length ? ' A name that exists in several schemas must be qualified manually.' : ''} A CHECK constraint that reads another table can still fail until the other table is copied.`,
      },
    };
    const observed = countOf(functions.length, 'function');
    if (!isCertain) return warnOutcome(observed, more);
    const isDumped = lost.every(({ fails, onlyContinuous }) => !fails || onlyContinuous);
    return failOutcome(isDumped ? ['continuous'] : ['continuous', 'dump'], observed, more);
  },
});

function setsSearchPath(signatures: readonly string[]): PreflightFixEffect {
  return buildQueryResultFixEffect(functionAndViewBodiesQuery, (all) =>
    all.map((body) => (signatures.includes(body.signature) ? { ...body, hasPath: true, inlined: false } : body)),
  );
}

function nameError({ kind, name }: UnresolvedFunctionBodyName): string {
  if (kind === 'operator') return `operator does not exist: … ${name} …`;
  return `${kind} ${kind === 'function' ? `${name}(…)` : `"${name}"`} does not exist`;
}
