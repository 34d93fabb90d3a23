import type { Finding } from '../finding.ts';
import type { FixEffect } from '../fix-effect.ts';
import type { PreflightOptions } from '../preflight-options.ts';
import { knownQueryValue, type QueryResults } from '../query.ts';
import { type EffectInDatabase, type EvaluatedEffects, findingKey } from '../simulated-fix.ts';
import { applyEffects, applyEffectsToFacts } from './apply-effects.ts';
import type { PostgresqlCheck, PostgresqlDatabaseCheck, PostgresqlServerCheck } from './check.ts';
import type { CollectedPostgresqlFacts } from './collected-facts.ts';
import { evaluateDatabaseCheck, evaluateServerCheck } from './evaluate-checks.ts';
import { numericSettingOf, type ServerSettings, settingOf, settingsQuery } from './queries/settings.ts';
import { changesCheckResults, queriesOfCheck } from './results-for-effects.ts';
import { type PostgresqlSourceFacts, serverVersionOf } from './source-facts.ts';

/**
 * Evaluates the checks as if the statements of the fixes with these effects had run. Only checks for which a query
 * result changes are evaluated.
 */
export function evaluateEffects(
  checks: readonly PostgresqlCheck[],
  collected: CollectedPostgresqlFacts,
  facts: PostgresqlSourceFacts,
  options: PreflightOptions,
  placed: readonly EffectInDatabase[],
): EvaluatedEffects {
  const effects = placed.map(({ effect }) => effect);
  const server = applyEffects(collected.results, effects);
  const serverFacts = applyEffectsToFacts(facts, effects);
  const hasNewFacts = serverFacts !== facts;
  const changed = new Map<string, Finding>();
  const add = (finding: Finding) => changed.set(findingKey(finding), finding);
  for (const check of checks) {
    if (check.scope === 'server' && (hasNewFacts || changesCheckResults(check, collected.results, server)))
      add(evaluateServerCheck(check as PostgresqlServerCheck, server, serverFacts, options));
  }
  const { databases, access } = collected;
  const databaseFacts = applyEffectsToFacts({ ...collected.facts, databases, access }, effects);
  const isShared = server !== collected.results || hasNewFacts || effects.some(({ kind }) => kind === 'role');
  const everywhere = effects.filter(isForEveryDatabase);
  const own = ownEffects(placed);
  for (const [database, results] of collected.retained) {
    const local = own.get(database) ?? [];
    if (results.size === 0 || !(isShared || local.length > 0)) continue;
    const before = new Map([...collected.results, ...results]);
    const after = new Map([...server, ...applyEffects(results, [...everywhere, ...local])]);
    for (const check of checks) {
      if (check.scope !== 'database' || !hasResults(check, before)) continue;
      if (hasNewFacts || changesCheckResults(check, before, after))
        add(evaluateDatabaseCheck(check as PostgresqlDatabaseCheck, after, database, databaseFacts, options));
    }
  }
  return { changed, cannotStart: startProblem(server, effects, serverVersionOf(facts)) };
}

function hasResults(check: PostgresqlCheck, results: QueryResults): boolean {
  return queriesOfCheck(check).every((query) => results.has(query));
}

function ownEffects(placed: readonly EffectInDatabase[]): ReadonlyMap<string | undefined, readonly FixEffect[]> {
  const own = new Map<string | undefined, FixEffect[]>();
  for (const { effect, database } of placed) {
    if (isForEveryDatabase(effect)) continue;
    const known = own.get(database);
    if (known === undefined) own.set(database, [effect]);
    else known.push(effect);
  }
  return own;
}

function isForEveryDatabase({ kind }: FixEffect): boolean {
  return kind !== 'result' && kind !== 'replica-identity';
}

/**
 * The combinations of settings with which PostgreSQL refuses to start (PostmasterMain, CheckRequiredParameterValues in
 * its source).
 */
function startProblem(results: QueryResults, effects: readonly FixEffect[], version: number): string | undefined {
  const settings = knownQueryValue<ServerSettings>(results, settingsQuery);
  if (settings === undefined || !effects.some(({ kind }) => kind === 'restart')) return undefined;
  const senders = numericSettingOf(settings, 'max_wal_senders');
  if (settingOf(settings, 'wal_level') === 'minimal' && senders > 0) {
    return 'WAL streaming (max_wal_senders > 0) requires wal_level "replica" or "logical"';
  }
  const connections = numericSettingOf(settings, 'max_connections');
  const reserved = numericSettingOf(settings, 'superuser_reserved_connections');
  if (version < 120_000 && settings.has('max_connections') && reserved + senders >= connections) {
    return `superuser_reserved_connections (${reserved}) plus max_wal_senders (${senders}) must be less than max_connections (${connections})`;
  }
  return undefined;
}
