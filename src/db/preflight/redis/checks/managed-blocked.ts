import { emptyInfo, type RedisInfo } from '../../../../redis/info.ts';
import {
  type CheckOutcome,
  failOutcome,
  infoOutcome,
  passOutcome,
  unknownOutcome,
  warnOutcome,
} from '../../finding.ts';
import { markOptional, type QueryResult, valueOr } from '../../query.ts';
import { declareRedisCheck, redisMethods } from '../check.ts';
import { type ConfigValues, commandsQuery, databaseLimitQuery, infoQuery } from '../queries.ts';
import type { RedisSourceFacts } from '../source.ts';

export const managedBlockedCheck = declareRedisCheck({
  id: 'managed-blocked',
  title: 'no provider restricts replication',
  headline: 'A provider restricts replication',
  spec: 'S9.12',
  needs: 'address',
  severity: { continuous: 'blocker', scan: 'blocker' },
  queries: {
    settings: markOptional(databaseLimitQuery),
    commands: markOptional(commandsQuery),
    info: markOptional(infoQuery),
  },
  evaluate({ settings, commands, info }, facts) {
    const provider = providerOf(facts.host, valueOr(info, emptyInfo));
    if (provider?.isSameService === true) return sameService(provider.name);
    const isHidden = isConfigHidden(settings);
    const hasNoPsync =
      isHidden || (commands.kind === 'known' ? !commands.value.has('psync') : commands.kind === 'missing');
    if (provider === undefined) return unknownProvider(facts, isHidden);
    if (facts.probe?.kind === 'accepted')
      return infoOutcome(`${provider.name}; PSYNC was accepted`, { headline: 'A provider allows replication' });
    if (facts.probe?.kind === 'refused' || hasNoPsync) return psyncBlocked(provider.name, isHidden);
    return warnOutcome(provider.name, {
      headline: 'A provider may restrict replication',
      required: 'a provider that allows external replicas',
      detail:
        facts.connection.kind === 'connected'
          ? 'The server lists PSYNC; whether it accepts it is not known.'
          : 'This provider is known to refuse PSYNC.',
      fix: { text: 'Ask the provider whether an external replica may connect, or test it with --probe.' },
    });
  },
});

interface Provider {
  readonly name: string;
  /**
   * Whether the provider is the service of the target, or one of the same kind. The target does not accept such a
   * source (docs/service.md S9.12).
   */
  readonly isSameService: boolean;
}

const suffixes: readonly (readonly [suffix: string, name: string, isSameService?: true])[] = [
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

function providerOf(host: string, info: RedisInfo): Provider | undefined {
  const name = host.toLowerCase().replace(/\.$/, '');
  const found = suffixes.find(([suffix]) => name.endsWith(suffix) || name.includes(`${suffix}.`));
  if (found !== undefined) return { name: found[1], isSameService: found[2] ?? false };
  // The host names of MemoryDB, and of Amazon in China, do not end in a suffix of the list.
  if (/\.memorydb\.[\w-]+\.amazonaws\.com$/.test(name)) return { name: 'Amazon MemoryDB', isSameService: false };
  if ((info.get('os') ?? '').includes('ElastiCache')) return { name: 'Amazon ElastiCache', isSameService: false };
  return info.has('upstash_version') ? { name: 'Upstash', isSameService: false } : undefined;
}

function isConfigHidden(settings: QueryResult<ConfigValues<'databases'>>): boolean {
  return settings.kind === 'missing' || (settings.kind === 'known' && settings.value.size === 0);
}

function sameService(name: string): CheckOutcome {
  return failOutcome(redisMethods, name, {
    headline: 'The source is a managed cluster of the same kind of service',
    required: 'a source outside the service',
    detail: 'Migrations between managed clusters are not supported, not even between accounts.',
    fix: { text: 'Fork the cluster, or restore it from its backup, inside the service.' },
  });
}

/** Hidden commands do not prove a managed service: the owner of a server may hide commands too. */
function unknownProvider({ port, probe }: RedisSourceFacts, isHidden: boolean): CheckOutcome {
  if (!isHidden) {
    return port === managedPort
      ? infoOutcome(`port ${managedPort}, the default of managed clusters`, {
          headline: 'The port is the default of managed clusters',
          detail: 'A managed cluster cannot be the source.',
        })
      : passOutcome('no provider detected');
  }
  if (probe?.kind === 'accepted')
    return infoOutcome('CONFIG is hidden; PSYNC was accepted', { headline: 'The server hides CONFIG' });
  return {
    ...unknownOutcome('CONFIG is hidden, as managed providers do; whether the server accepts PSYNC is not known', {
      text: 'Run the preflight with --probe, which requests a synchronization and disconnects, or ask the operator of the server.',
    }),
    premise: 'the server accepts PSYNC',
    settledBy: '--probe',
  };
}

const managedPort = 25061;

function psyncBlocked(name: string, isHidden: boolean): CheckOutcome {
  return failOutcome(['continuous'], `${name}, ${isHidden ? 'which hides CONFIG' : 'without PSYNC'}`, {
    required: 'a server that accepts PSYNC',
    detail: "The replica is refused: `Unexpected reply to PSYNC from master: -ERR unknown command 'PSYNC'`.",
    fix: { text: 'Ask the provider to allow an external replica, or copy the keys with SCAN, DUMP and RESTORE.' },
  });
}
