import type { ChangedFindings, CheckFinding, DatabaseEffect } from '../../../../src/db/preflight/finding.ts';
import type { PreflightOptions } from '../../../../src/db/preflight/options.ts';
import type { RedisCheck } from '../../../../src/db/preflight/redis/check.ts';
import { redisChecks } from '../../../../src/db/preflight/redis/checks.ts';
import { runRedisQueries } from '../../../../src/db/preflight/redis/collect.ts';
import { evaluateRedisChecks, redisAfterFixes } from '../../../../src/db/preflight/redis/engine.ts';
import type { RedisSourceFacts } from '../../../../src/db/preflight/redis/source.ts';
import { CommandError, parseErrorCode } from '../../../../src/redis/command-error.ts';
import type { RedisConnection, RedisReply } from '../../../../src/redis/connection.ts';
import type { RedisCommand } from '../../../../src/redis/resp.ts';
import { preflightOptions } from './preflight-options.ts';

/** The replies of a server, as far as it is queried. */
export interface Recorded {
  /** The lines of INFO without headings. */
  readonly info: Readonly<Record<string, string>>;
  /** Settings by name; `hidden`: CONFIG is an unknown command. */
  readonly config: Readonly<Record<string, string>> | 'hidden';
  /** Commands that it does not know by their names, lower case. */
  readonly lacks?: readonly string[];
  /** Names of the loaded modules. */
  readonly modules?: readonly string[];
  readonly functions?: number;
  /** Rules of ACL GETUSER; absent: everything. */
  readonly rules?: string;
  /** Replies that win over all others, by the command line; a text that begins with a minus is an error. */
  readonly replies?: Readonly<Record<string, RedisReply>>;
}

/** The facts of a successful login on a public address. */
export function sourceFacts(changes: Partial<RedisSourceFacts> = {}): RedisSourceFacts {
  const found = { kind: 'found', addresses: ['203.0.113.7'] } as const;
  return {
    host: 'redis.example.com',
    port: 6379,
    user: 'default',
    ssl: false,
    address: {
      host: 'redis.example.com',
      port: 6379,
      kind: 'name',
      contradictions: [],
      lookup: found,
      dns4: found,
      dns6: { kind: 'failed', code: 'ENODATA', reason: 'the name has no such address' },
      connects: [{ address: '203.0.113.7', took: 3 }],
    },
    tls: { offered: 'not_asked' },
    connection: { kind: 'connected', auth: 'password' },
    broken: undefined,
    busy: undefined,
    rate: { writes: 0, source: 'network', evicted: 0, expired: 0 },
    sample: { kind: 'known', value: { keys: [], isAll: true } },
    renamed: { kind: 'known', value: { called: [], uncalled: [] } },
    probe: undefined,
    ...changes,
  };
}

/** Every finding of a recorded server, by the real queries, decoders and checks. */
export async function evaluateRecorded(
  recorded: Recorded,
  changes: { readonly facts?: Partial<RedisSourceFacts>; readonly options?: Partial<PreflightOptions> } = {},
  checks: readonly RedisCheck[] = redisChecks,
): Promise<ReadonlyMap<string, CheckFinding>> {
  const facts = sourceFacts(changes.facts);
  const results = await runRedisQueries(sessionOf(recorded), checks, { user: facts.user }, 1000);
  const findings = evaluateRedisChecks(checks, results, facts, preflightOptions(changes.options));
  return new Map(findings.map((finding) => [finding.id, finding]));
}

/** What the checks find on a recorded server when commands with some effects have run. */
export async function effectsEvaluator(
  recorded: Recorded,
  changes: { readonly facts?: Partial<RedisSourceFacts>; readonly options?: Partial<PreflightOptions> } = {},
  checks: readonly RedisCheck[] = redisChecks,
): Promise<(effects: readonly DatabaseEffect[]) => ChangedFindings> {
  const facts = sourceFacts(changes.facts);
  const results = await runRedisQueries(sessionOf(recorded), checks, { user: facts.user }, 1000);
  return (placed) => redisAfterFixes(checks, { facts, results }, preflightOptions(changes.options), placed);
}

function sessionOf(recorded: Recorded): RedisConnection {
  const send = async (words: RedisCommand) => {
    const reply = replyTo(words.map(String), recorded);
    if (typeof reply === 'string' && reply.startsWith('-')) {
      throw new CommandError(parseErrorCode(reply.slice(1)), reply.slice(1), false);
    }
    return reply;
  };
  return { authentication: { auth: 'open' }, tls: undefined, send, sendRaw: send, end: () => {} };
}

function replyTo(words: readonly string[], recorded: Recorded): RedisReply {
  const { info, config, lacks = [], modules = [], replies = {} } = recorded;
  const told = replies[words.join(' ')] ?? replies[words.slice(0, 2).join(' ')];
  if (told !== undefined) return told;
  const [name = '', second = '', ...rest] = words;
  const missing = `-ERR unknown command '${name}'`;
  if (lacks.includes(name.toLowerCase())) return missing;
  switch (name) {
    case 'INFO':
      if (second === 'modules') return modules.map((one) => `module:name=${one},ver=1`).join('\r\n');
      if (second === 'commandstats') return info.cmdstat_wait === undefined ? '' : `cmdstat_wait:${info.cmdstat_wait}`;
      return Object.entries(info)
        .map(([key, value]) => `${key}:${value}`)
        .join('\r\n');
    case 'CONFIG': {
      if (config === 'hidden') return missing;
      const pattern = new RegExp(`^${rest[0]?.replaceAll('*', '.*')}$`);
      return Object.entries(config).flatMap((pair) => (pattern.test(pair[0]) ? pair : []));
    }
    case 'COMMAND':
      return rest.map((one) => (lacks.includes(one) ? null : [one, -1]));
    case 'ACL':
      if (second === 'DRYRUN') return lacks.includes('acl dryrun') ? "-ERR Unknown subcommand 'DRYRUN'" : 'OK';
      return ['flags', ['on'], 'passwords', [], 'commands', recorded.rules ?? '+@all'];
    case 'CLUSTER':
      return info.cluster_enabled === '1'
        ? 'cluster_state:ok\r\ncluster_size:3'
        : '-ERR This instance has cluster support disabled';
    case 'MODULE':
      return modules.map((one) => ['name', one, 'ver', 1]);
    case 'FUNCTION':
      if (recorded.functions === undefined) return missing;
      return [
        'running_script',
        null,
        'engines',
        ['LUA', ['libraries_count', 1, 'functions_count', recorded.functions]],
      ];
    case 'LATENCY':
      return [];
    default:
      return missing;
  }
}
