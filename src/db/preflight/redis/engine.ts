import { countOf } from '../../../base/text.ts';
import type { RedisEndpoint } from '../../../redis/endpoint.ts';
import { type InfoField, infoNumber, parseKeyspace, type RedisInfo } from '../../../redis/info.ts';
import { parseServerVersion, productNames } from '../../../redis/version.ts';
import { buildFinding } from '../check.ts';
import {
  type ChangedFindings,
  type CheckFinding,
  type CheckOutcome,
  changeValues,
  type DatabaseEffect,
  type FixEffect,
  findingKey,
  skipOutcome,
  type ValueChange,
} from '../finding.ts';
import { connectedAddress } from '../network/addresses.ts';
import type { PreflightOptions } from '../options.ts';
import { type CheckQueries, type QueryResult, type QueryResults, queryValue } from '../query.ts';
import type { DatabaseVerdict } from '../report.ts';
import type { EngineReport, PreflightEngine } from '../run.ts';
import type { PreflightConclusion } from '../verdict.ts';
import { outcomeWithoutValue, type RedisCheck, redisMethods } from './check.ts';
import { redisChecks } from './checks.ts';
import {
  type CollectedRedisFacts,
  collectRedisFacts,
  listCheckQueries,
  observeTraffic,
  type TrafficObserver,
} from './collect.ts';
import { type AclRules, aclRulesQuery, configQueries, type DryRunResult, dryRunQueries, infoQuery } from './queries.ts';
import {
  estimateRedisCopy,
  type OpenedSource,
  openRedisSource,
  type RedisConnectionResult,
  type RedisSourceFacts,
} from './source.ts';

/**
 * Evaluates the Redis checks as if the commands of the given fixes had run. Only checks whose query results or facts
 * change are evaluated.
 */
export function redisAfterFixes(
  checks: readonly RedisCheck[],
  { facts, results }: Pick<CollectedRedisFacts, 'facts'> & { readonly results: QueryResults },
  options: PreflightOptions,
  placed: readonly DatabaseEffect[],
): ChangedFindings {
  const effects = placed.map(({ effect }) => effect);
  const after = applyToResults(results, effects);
  const factsAfter = applyToFacts(facts, effects);
  const affected = checks.filter(
    (check) => facts !== factsAfter || listCheckQueries(check).some((query) => results.get(query) !== after.get(query)),
  );
  const findings = evaluateRedisChecks(affected, after, factsAfter, options);
  return { changed: new Map(findings.map((finding): [string, CheckFinding] => [findingKey(finding), finding])) };
}

/** The query results as they would be after the commands of the fixes; the same map if nothing changes. */
function applyToResults(results: QueryResults, effects: readonly FixEffect[]): QueryResults {
  return changeValues(results, (change) => {
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
function applyToFacts(facts: RedisSourceFacts, effects: readonly FixEffect[]): RedisSourceFacts {
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
function applyConfigSet(name: string, value: string, change: ValueChange): void {
  for (const query of configQueries) {
    change(query, (values) =>
      values.get(name) === undefined
        ? values
        : new Map([...values, [name, withSetting(name, values.get(name) ?? '', value)]]),
    );
  }
  const field = infoFields[name];
  if (field !== undefined) {
    change(infoQuery, (info) => (info.has(field) ? new Map([...info, [field, value]]) : info));
  }
  // INFO has the field min_slaves_good_slaves only if a minimum number of replicas is set.
  if (/^min-(replicas|slaves)-to-write$/.test(name) && value === '0') {
    change(infoQuery, (info) => new Map([...info].filter(([one]) => one !== 'min_slaves_good_slaves')));
  }
  if (/^(replica|slave)-read-only$/.test(name)) {
    change(infoQuery, (info) => new Map([...info, ['slave_read_only', value === 'yes' ? '1' : '0']]));
  }
}

const infoFields: Readonly<Record<string, InfoField>> = {
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

function applyAclRules(commands: readonly string[], allKeys: boolean, change: ValueChange): void {
  change(
    aclRulesQuery,
    (rules): AclRules => ({
      commands: [...rules.commands, ...commands.map((name) => `+${name}`)],
      keys: allKeys ? ['~*'] : rules.keys,
    }),
  );
  for (const [name, query] of Object.entries(dryRunQueries)) {
    const isGranted = commands.includes(name);
    change(query, (dryRun): DryRunResult => {
      const isAboutKeys = /permissions to access/i.test(dryRun.reply);
      return dryRun.allowed || !(isAboutKeys ? allKeys : isGranted) ? dryRun : { allowed: true, reply: 'OK' };
    });
  }
}

/** Returns one finding for each Redis check, in the order of the checks. */
export function evaluateRedisChecks(
  checks: readonly RedisCheck[],
  results: QueryResults,
  facts: RedisSourceFacts,
  options: PreflightOptions,
): readonly CheckFinding[] {
  const evaluated = checks.map((check) => ({ check, outcome: evaluateCheck(check, results, facts, options) }));
  return joinDeniedChecks(evaluated).map(({ check, outcome }) => buildFinding(check, outcome));
}

interface EvaluatedCheck {
  readonly check: RedisCheck;
  readonly outcome: CheckOutcome;
}

/**
 * A missing permission is one finding, whatever the number of checks that need it: of the checks that could block most
 * methods. The others are skipped, and name it.
 */
function joinDeniedChecks(evaluated: readonly EvaluatedCheck[]): readonly EvaluatedCheck[] {
  const grantOf = ({ outcome: { status, settledBy, fix } }: EvaluatedCheck) =>
    status === 'unknown' && fix?.sql?.length === 1 && fix.sql[0] === settledBy ? settledBy : undefined;
  const holders = new Map<string, EvaluatedCheck>();
  for (const one of evaluated) {
    const grant = grantOf(one);
    const held = grant === undefined ? undefined : holders.get(grant);
    const isWider = held === undefined || one.check.mayBlock.length > held.check.mayBlock.length;
    if (grant !== undefined && isWider) holders.set(grant, one);
  }
  return evaluated.map((one) => {
    const grant = grantOf(one);
    const holder = grant === undefined ? undefined : holders.get(grant);
    if (grant === undefined || holder === undefined) return one;
    const others = evaluated.filter(
      (other) =>
        other !== holder &&
        grantOf(other) === grant &&
        // The verdict stays open for every method that one of the checks can block.
        other.check.mayBlock.every((method) => holder.check.mayBlock.includes(method)),
    );
    if (others.length === 0) return one;
    if (others.includes(one))
      return { ...one, outcome: skipOutcome(`${one.outcome.observed} (see ${holder.check.id})`) };
    if (one !== holder) return one;
    const outcome: CheckOutcome = {
      ...one.outcome,
      premise: `${one.check.title}, and ${countOf(others.length, 'other check passes', 'other checks pass')}`,
      objects: others.map(({ check }) => check.id),
    };
    return { ...one, outcome };
  });
}

function evaluateCheck(
  check: RedisCheck,
  results: QueryResults,
  facts: RedisSourceFacts,
  options: PreflightOptions,
): CheckOutcome {
  if (check.needs !== 'address' && facts.connection.kind === 'refused') return skipOutcome(describeRefusal(facts));
  const values: Record<string, unknown> = {};
  const queries: CheckQueries = check.queries;
  for (const [name, query] of Object.entries(queries)) {
    const isOptional = 'optional' in query;
    const result = results.get(isOptional ? query.optional : query) ?? notSent(facts);
    if (!isOptional && result.kind !== 'known') return outcomeWithoutValue(result, check);
    values[name] = isOptional || result.kind !== 'known' ? result : result.value;
  }
  return check.evaluate(values, facts, options);
}

function notSent(facts: RedisSourceFacts): QueryResult<never> {
  const isRefused = facts.connection.kind === 'refused';
  return { kind: 'skipped', reason: isRefused ? describeRefusal(facts) : 'the query was not sent' };
}

/** Why the checks that need a session are skipped. */
function describeRefusal({ connection }: RedisSourceFacts): string {
  return connection.kind === 'refused' ? `no session with the server: ${connection.message}` : '';
}

interface RedisEngineOptions {
  /** Milliseconds between the two measurements of the activity (default: 1 s). */
  readonly rateInterval?: number;
}

interface OpenedRedis extends OpenedSource {
  readonly observer: TrafficObserver;
}

export type RedisEngine = PreflightEngine<RedisEndpoint, OpenedRedis, CollectedRedisFacts>;

/**
 * The operations of a preflight of a Redis source. The progress of a Redis preflight counts three steps: connected,
 * queried, measured.
 */
export function createRedisEngine({ rateInterval = 1000 }: RedisEngineOptions = {}): RedisEngine {
  return {
    name: 'redis',
    methods: redisMethods,
    checks: redisChecks,
    async open(run) {
      const observer = observeTraffic(run.onSend);
      run.onProgress(0, 3);
      const opened = await openRedisSource(run.source, { signal: run.signal, onCommand: observer.onCommand });
      run.onProgress(1, 3);
      return { ...opened, observer };
    },
    async collectFacts(opened, run) {
      const collected = await collectRedisFacts(opened, run, opened.observer, redisChecks, rateInterval);
      run.onProgress(3, 3);
      return collected;
    },
    evaluate({ facts, results }, options) {
      const info = queryValue(results, infoQuery);
      return {
        findings: evaluateRedisChecks(redisChecks, results, facts, options),
        databases: info === undefined ? [] : parseKeyspace(info).map(({ index }) => `db${index}`),
      };
    },
    effectsEvaluator: (collected, options) => (effects) => redisAfterFixes(redisChecks, collected, options, effects),
    describe: (collected, conclusion, { source }) => describeRedis(collected, conclusion, source),
  };
}

function describeRedis(
  { facts, results }: CollectedRedisFacts,
  { databases }: PreflightConclusion,
  source: RedisEndpoint,
): EngineReport<object> {
  const info = queryValue(results, infoQuery);
  const keyspace = info === undefined ? [] : parseKeyspace(info);
  const copy = info === undefined ? undefined : estimateRedisCopy(info);
  return {
    source: {
      host: source.host,
      port: source.port,
      ...shownUsername(source, facts.connection),
      ssl: facts.ssl,
      ...connectedAddress(facts.address),
      ...(info === undefined ? {} : describeServer(info)),
    },
    databases: databases.map((one, at): DatabaseVerdict => ({ ...one, keys: keyspace[at]?.keys ?? 0 })),
    estimate: copy === undefined ? undefined : { low: copy.shortest, high: copy.longest },
    extra: {},
  };
}

/**
 * A user name without a colon behind it may be a password, so it is shown only if the server accepted it together with
 * a password.
 */
function shownUsername({ username, isUsernameAmbiguous }: RedisEndpoint, connection: RedisConnectionResult) {
  const isHidden = isUsernameAmbiguous === true && !(connection.kind === 'connected' && connection.auth === 'password');
  return username === undefined || isHidden ? {} : { username };
}

function describeServer(info: RedisInfo) {
  const version = parseServerVersion(info);
  return {
    ...(version === undefined
      ? {}
      : {
          server_version:
            version.product === 'redis' ? version.version : `${productNames[version.product]} ${version.version}`,
        }),
    role: {
      primary: info.get('role') !== 'slave',
      cluster: info.get('cluster_enabled') === '1',
      replicas: (infoNumber(info, 'connected_slaves') ?? 0) > 0,
    },
  };
}
