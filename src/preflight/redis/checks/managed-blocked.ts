import { type CheckOutcome, fail, info, pass, unknown, warn } from '../../finding.ts';
import { redisCheck, redisMethods } from '../check.ts';
import { knownCommandsQuery } from '../queries/commands.ts';
import { databasesConfigQuery, type RedisConfigValues } from '../queries/config.ts';
import { infoQuery as serverInfo } from '../queries/info.ts';
import { optionalQuery, type RedisQueryResult, resultOr } from '../query.ts';
import type { RedisSourceFacts } from '../source-facts.ts';

export const managedBlockedCheck = redisCheck({
  id: 'managed-blocked',
  title: 'no provider stands between',
  spec: '4.6',
  needs: 'address',
  mayBlock: redisMethods,
  queries: {
    config: optionalQuery(databasesConfigQuery),
    commands: optionalQuery(knownCommandsQuery),
    server: optionalQuery(serverInfo),
  },
  evaluate({ config, commands: listed, server }, ground) {
    const provider = providerOf(ground.host, resultOr(server, new Map<string, string>()));
    if (provider?.isOurs === true) return ours(provider.name);
    const hidden = isHidden(config);
    const blocked = hidden || (listed.kind === 'known' ? !listed.value.has('psync') : listed.kind === 'missing');
    if (provider === undefined) return unnamed(ground, hidden);
    if (ground.probe?.kind === 'accepted') return info(`${provider.name}; PSYNC was accepted`);
    if (ground.probe?.kind === 'refused' || blocked) return closed(provider.name, hidden);
    return warn(provider.name, {
      required: 'a provider that lets replicas of others in',
      detail:
        ground.connection.kind === 'entered'
          ? 'PSYNC is listed; whether it is answered is not known.'
          : 'It is known to refuse PSYNC.',
      fix: { text: 'Ask the provider whether a replica outside may connect; --probe asks the server.' },
    });
  },
});

interface Provider {
  readonly name: string;
  /** The service that is migrated to, or one like it: it takes nothing from its own kind (spec §4.6). */
  readonly isOurs: boolean;
}

const suffixes: readonly (readonly [suffix: string, name: string, isOurs?: true])[] = [
  ['.db.ondigitalocean.com', 'a managed cluster of the same kind of service', true],
  ['.cache.amazonaws.com', 'Amazon ElastiCache'],
  ['.redis.cache.windows.net', 'Azure Cache for Redis'],
  ['.redisenterprise.cache.azure.net', 'Azure Cache for Redis Enterprise'],
  ['.redis.azure.net', 'Azure Managed Redis'],
  ['.upstash.io', 'Upstash'],
  ['.redislabs.com', 'Redis Cloud'],
  ['.redis-cloud.com', 'Redis Cloud'],
  ['.rlrcp.com', 'Redis Cloud'],
  ['.aivencloud.com', 'Aiven'],
];

function providerOf(host: string, server: ReadonlyMap<string, string>): Provider | undefined {
  const name = host.toLowerCase().replace(/\.$/, '');
  const found = suffixes.find(([suffix]) => name.endsWith(suffix) || name.includes(`${suffix}.`));
  if (found !== undefined) return { name: found[1], isOurs: found[2] ?? false };
  // Amazon's addresses end otherwise for MemoryDB and in China.
  if (/\.memorydb\.[\w-]+\.amazonaws\.com$/.test(name)) return { name: 'Amazon MemoryDB', isOurs: false };
  if ((server.get('os') ?? '').includes('ElastiCache')) return { name: 'Amazon ElastiCache', isOurs: false };
  return server.has('upstash_version') ? { name: 'Upstash', isOurs: false } : undefined;
}

function isHidden(config: RedisQueryResult<RedisConfigValues>): boolean {
  return config.kind === 'missing' || (config.kind === 'known' && config.value.size === 0);
}

function ours(name: string): CheckOutcome {
  return fail(redisMethods, name, {
    required: 'a source outside of the service',
    detail: 'Migrating from one managed cluster to another, across accounts too, is not supported.',
    fix: { text: 'Fork the cluster or restore it from its backup inside the service instead.' },
  });
}

/** Hidden commands are what a provider does; an owner may do the same. */
function unnamed(ground: RedisSourceFacts, hidden: boolean): CheckOutcome {
  if (!hidden) {
    return ground.port === managedPort
      ? info(`port ${managedPort}, the default of managed clusters`, {
          detail: 'A managed cluster cannot be the source.',
        })
      : pass('no sign of a provider');
  }
  if (ground.probe?.kind === 'accepted') return info('CONFIG is hidden; PSYNC was accepted');
  return unknown('CONFIG is hidden, as managed providers do, so whether PSYNC is let through is not known', {
    text: 'Run it again with --probe, which really asks for a synchronization and hangs up; or ask who runs the server.',
  });
}

const managedPort = 25061;

function closed(name: string, hidden: boolean): CheckOutcome {
  return fail(['continuous'], `${name}, ${hidden ? 'which hides CONFIG' : 'without PSYNC'}`, {
    required: 'a server that answers PSYNC',
    detail: "The replica is refused: `Unexpected reply to PSYNC from master: -ERR unknown command 'PSYNC'`.",
    fix: { text: 'Ask the provider to let a replica in (a ticket), or take the keys by SCAN, DUMP and RESTORE.' },
  });
}
