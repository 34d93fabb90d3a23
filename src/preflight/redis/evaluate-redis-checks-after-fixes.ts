import type { RedisInfoField } from '../../redis/info.ts';
import { changePreflightQueryValues, type PreflightQueryValueChange } from '../change-query-values.ts';
import type { CheckFinding } from '../finding.ts';
import type { PreflightFixEffect } from '../fix-effect.ts';
import {
  buildFindingKey,
  type FindingsChangedByFixEffects,
  type FixEffectInDatabase,
} from '../preflight-fix-with-effects.ts';
import type { PreflightOptions } from '../preflight-options.ts';
import type { PreflightQueryResults } from '../query.ts';
import type { RedisCheck } from './check.ts';
import type { CollectedRedisFacts } from './collect-redis-facts.ts';
import { evaluateRedisChecks } from './evaluate-checks.ts';
import {
  type RedisAclDryRunResult,
  type RedisAclUserRules,
  redisAclDryRunQueries,
  redisAclUserRulesQuery,
} from './queries/acl.ts';
import { redisConfigQueries } from './queries/config.ts';
import { redisInfoQuery } from './queries/info.ts';
import { listQueriesOfRedisCheck } from './run-redis-preflight-queries.ts';
import type { RedisSourceFacts } from './source-facts.ts';

/**
 * Evaluates the Redis checks as if the commands of the given fixes had run. Only checks whose query results or facts
 * change are evaluated.
 */
export function evaluateRedisChecksAfterFixes(
  checks: readonly RedisCheck[],
  { facts, results }: Pick<CollectedRedisFacts, 'facts'> & { readonly results: PreflightQueryResults },
  options: PreflightOptions,
  placed: readonly FixEffectInDatabase[],
): FindingsChangedByFixEffects {
  const effects = placed.map(({ effect }) => effect);
  const after = applyFixEffectsToRedisResults(results, effects);
  const factsAfter = applyToFacts(facts, effects);
  const affected = checks.filter(
    (check) =>
      facts !== factsAfter || listQueriesOfRedisCheck(check).some((query) => results.get(query) !== after.get(query)),
  );
  const findings = evaluateRedisChecks(affected, after, factsAfter, options);
  return { changed: new Map(findings.map((finding): [string, CheckFinding] => [buildFindingKey(finding), finding])) };
}

/** The query results as they would be after the commands of the fixes; the same map if nothing changes. */
function applyFixEffectsToRedisResults(
  results: PreflightQueryResults,
  effects: readonly PreflightFixEffect[],
): PreflightQueryResults {
  return changePreflightQueryValues(results, (change) => {
    for (const effect of effects) {
      if (effect.kind === 'result') change(effect.query, effect.change);
      if (effect.kind === 'setting') applyConfigSet(effect.name, effect.value, change);
      if (effect.kind === 'acl') applyAclRules(effect.commands, effect.allKeys, change);
    }
  });
}

/**
 * Removes a denied key sample, a refused or failed probe and the error MISCONF from the facts if the commands of the
 * fixes would change them, because their new values are not known.
 */
function applyToFacts(facts: RedisSourceFacts, effects: readonly PreflightFixEffect[]): RedisSourceFacts {
  const { sample, probe, connection } = facts;
  const isGranted = effects.some(({ kind }) => kind === 'acl');
  const allowsWrites = effects.some(
    (effect) => effect.kind === 'setting' && effect.name === 'stop-writes-on-bgsave-error',
  );
  const isSampleDenied = isGranted && sample.kind === 'denied';
  const isProbeDenied = isGranted && probe?.kind === 'refused' && probe.code === 'NOPERM';
  const isCopyFailed =
    probe?.kind === 'accepted' &&
    probe.copy.kind !== 'started' &&
    effects.some((effect) => effect.kind === 'setting' && effect.name === 'repl-diskless-sync');
  const isMisconf = allowsWrites && connection.kind === 'connected' && connection.notice?.code === 'MISCONF';
  if (!(isSampleDenied || isProbeDenied || isCopyFailed || isMisconf)) return facts;
  return {
    ...facts,
    ...(isSampleDenied ? { sample: { kind: 'skipped', reason: 'the user was not allowed to read the keys' } } : {}),
    ...(isProbeDenied || isCopyFailed ? { probe: undefined } : {}),
    ...(isMisconf ? { connection: { kind: 'connected', auth: connection.auth } } : {}),
  };
}

/**
 * Changes a setting in the stored replies to CONFIG GET, and the fields of the stored INFO reply that repeat this
 * setting.
 */
function applyConfigSet(name: string, value: string, change: PreflightQueryValueChange): void {
  for (const query of redisConfigQueries) {
    change(query, (values) =>
      values.get(name) === undefined
        ? values
        : new Map([...values, [name, withSetting(name, values.get(name) ?? '', value)]]),
    );
  }
  const field = infoFields[name];
  if (field !== undefined) {
    change(redisInfoQuery, (info) => (info.has(field) ? new Map([...info, [field, value]]) : info));
  }
  // INFO has the field min_slaves_good_slaves only if a minimum number of replicas is set.
  if (/^min-(replicas|slaves)-to-write$/.test(name) && value === '0') {
    change(redisInfoQuery, (info) => new Map([...info].filter(([one]) => one !== 'min_slaves_good_slaves')));
  }
  if (/^(replica|slave)-read-only$/.test(name)) {
    change(redisInfoQuery, (info) => new Map([...info, ['slave_read_only', value === 'yes' ? '1' : '0']]));
  }
}

const infoFields: Readonly<Record<string, RedisInfoField>> = {
  maxclients: 'maxclients',
  maxmemory: 'maxmemory',
  'maxmemory-policy': 'maxmemory_policy',
  'repl-backlog-size': 'repl_backlog_size',
};

/** CONFIG SET client-output-buffer-limit changes only the client classes that it names. */
function withSetting(name: string, before: string, value: string): string {
  if (name !== 'client-output-buffer-limit') return value;
  const [kind = ''] = value.split(' ');
  return before.replace(new RegExp(`\\b${kind}( \\d+){3}`), value);
}

function applyAclRules(commands: readonly string[], allKeys: boolean, change: PreflightQueryValueChange): void {
  change(
    redisAclUserRulesQuery,
    (rules): RedisAclUserRules => ({
      commands: [...rules.commands, ...commands.map((name) => `+${name}`)],
      keys: allKeys ? ['~*'] : rules.keys,
    }),
  );
  for (const [name, query] of Object.entries(redisAclDryRunQueries)) {
    const isGranted = commands.includes(name);
    change(query, (dryRun): RedisAclDryRunResult => {
      const isAboutKeys = /permissions to access/i.test(dryRun.reply);
      return dryRun.allowed || !(isAboutKeys ? allKeys : isGranted) ? dryRun : { allowed: true, reply: 'OK' };
    });
  }
}
