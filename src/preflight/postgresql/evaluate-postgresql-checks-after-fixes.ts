import type { CheckFinding } from '../finding.ts';
import type { PreflightFixEffect } from '../fix-effect.ts';
import {
  buildFindingKey,
  type FindingsChangedByFixEffects,
  type FixEffectInDatabase,
} from '../preflight-fix-with-effects.ts';
import type { PreflightOptions } from '../preflight-options.ts';
import { getPreflightQueryValue, type PreflightQueryResults } from '../query.ts';
import { applyFixEffectsToPostgresqlFacts, applyFixEffectsToPostgresqlResults } from './apply-fix-effects.ts';
import type { PostgresqlCheck, PostgresqlDatabaseCheck, PostgresqlServerPreflightCheck } from './check.ts';
import type { CollectedPostgresqlFacts } from './collected-postgresql-facts.ts';
import { evaluateDatabaseCheck, evaluateServerCheck } from './evaluate-checks.ts';
import {
  getNumericPostgresqlSetting,
  getPostgresqlSetting,
  type PostgresqlServerSettings,
  postgresqlSettingsQuery,
} from './queries/settings.ts';
import { areCheckQueryResultsChangedByFixes, getQueriesOfCheck } from './results-for-effects.ts';
import { getPostgresqlSourceVersion, type PostgresqlSourceFacts } from './source-facts.ts';

/**
 * Evaluates the checks as if the statements of the given fixes had run. Only checks whose query results change are
 * evaluated.
 */
export function evaluatePostgresqlChecksAfterFixes(
  checks: readonly PostgresqlCheck[],
  collected: CollectedPostgresqlFacts,
  facts: PostgresqlSourceFacts,
  options: PreflightOptions,
  placed: readonly FixEffectInDatabase[],
): FindingsChangedByFixEffects {
  const effects = placed.map(({ effect }) => effect);
  const server = applyFixEffectsToPostgresqlResults(collected.results, effects);
  const serverFacts = applyFixEffectsToPostgresqlFacts(facts, effects);
  const hasNewFacts = serverFacts !== facts;
  const changed = new Map<string, CheckFinding>();
  const add = (finding: CheckFinding) => changed.set(buildFindingKey(finding), finding);
  for (const check of checks) {
    if (
      check.scope === 'server' &&
      (hasNewFacts || areCheckQueryResultsChangedByFixes(check, collected.results, server))
    )
      add(evaluateServerCheck(check as PostgresqlServerPreflightCheck, server, serverFacts, options));
  }
  const { databases, access } = collected;
  const databaseFacts = applyFixEffectsToPostgresqlFacts({ ...collected.facts, databases, access }, effects);
  const isShared = server !== collected.results || hasNewFacts || effects.some(({ kind }) => kind === 'role');
  const everywhere = effects.filter(isForEveryDatabase);
  const own = ownEffects(placed);
  for (const [database, results] of collected.retained) {
    const local = own.get(database) ?? [];
    if (!isShared && local.length === 0) continue;
    const before = new Map([...collected.results, ...results]);
    const after = new Map([...server, ...applyFixEffectsToPostgresqlResults(results, [...everywhere, ...local])]);
    for (const check of checks) {
      if (check.scope !== 'database' || !hasResults(check, before)) continue;
      if (hasNewFacts || areCheckQueryResultsChangedByFixes(check, before, after))
        add(evaluateDatabaseCheck(check as PostgresqlDatabaseCheck, after, database, databaseFacts, options));
    }
  }
  return { changed, cannotStart: startProblem(server, effects, getPostgresqlSourceVersion(facts)) };
}

function hasResults(check: PostgresqlCheck, results: PreflightQueryResults): boolean {
  return getQueriesOfCheck(check).every((query) => results.has(query));
}

function ownEffects(
  placed: readonly FixEffectInDatabase[],
): ReadonlyMap<string | undefined, readonly PreflightFixEffect[]> {
  const own = new Map<string | undefined, PreflightFixEffect[]>();
  for (const { effect, database } of placed) {
    if (isForEveryDatabase(effect)) continue;
    const known = own.get(database);
    if (known === undefined) own.set(database, [effect]);
    else known.push(effect);
  }
  return own;
}

function isForEveryDatabase({ kind }: PreflightFixEffect): boolean {
  return kind !== 'result' && kind !== 'replica-identity';
}

/**
 * The combinations of settings with which PostgreSQL refuses to start (PostmasterMain, CheckRequiredParameterValues in
 * its source).
 */
function startProblem(
  results: PreflightQueryResults,
  effects: readonly PreflightFixEffect[],
  version: number,
): string | undefined {
  const settings = getPreflightQueryValue<PostgresqlServerSettings>(results, postgresqlSettingsQuery);
  if (settings === undefined || !effects.some(({ kind }) => kind === 'restart')) return undefined;
  const senders = getNumericPostgresqlSetting(settings, 'max_wal_senders');
  if (getPostgresqlSetting(settings, 'wal_level') === 'minimal' && senders > 0) {
    return 'WAL streaming (max_wal_senders > 0) requires wal_level "replica" or "logical"';
  }
  const connections = getNumericPostgresqlSetting(settings, 'max_connections');
  const reserved = getNumericPostgresqlSetting(settings, 'superuser_reserved_connections');
  if (version < 120_000 && settings.has('max_connections') && reserved + senders >= connections) {
    return `superuser_reserved_connections (${reserved}) plus max_wal_senders (${senders}) must be less than max_connections (${connections})`;
  }
  return undefined;
}
