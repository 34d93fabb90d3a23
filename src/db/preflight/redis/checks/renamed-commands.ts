import type { RedisInfo } from '../../../../redis/info.ts';
import { isRedisVersionAtLeast, parseRedisServerVersion } from '../../../../redis/version.ts';
import { failOutcome, type PreflightCheckOutcome, passOutcome, skipOutcome, warnOutcome } from '../../finding.ts';
import { markPreflightQueryOptional, type PreflightQueryResult } from '../../query.ts';
import { declareRedisPreflightCheck } from '../check.ts';
import {
  buildRedisOutcomeWithoutQueryResult,
  isSentinel,
  listRedisScanCommands,
  sentinelSkipReason,
} from '../commands.ts';
import { buildRemoveRenameCommandFix } from '../fixes.ts';
import { redisInfoQuery, redisKnownCommandsQuery } from '../queries.ts';

/** The commands that migration tools and the preflight send. */
const expectedCommands = ['sync', 'psync', 'info', 'config', 'command', 'cluster'] as const;

export const renamedCommandsCheck = declareRedisPreflightCheck({
  id: 'renamed-commands',
  title: 'no command that a migration uses is renamed',
  headline: 'Some commands that a migration uses are renamed or removed',
  needs: 'connection',
  severity: { continuous: 'warning', scan: 'blocker' },
  queries: {
    commands: markPreflightQueryOptional(redisKnownCommandsQuery),
    info: markPreflightQueryOptional(redisInfoQuery),
  },
  evaluate({ commands, info }, { sample }) {
    if (isSentinel(info)) return skipOutcome(sentinelSkipReason);
    if (commands.kind !== 'known') {
      return sample.kind === 'missing'
        ? scanCommandUnknown(sample.reason)
        : buildRedisOutcomeWithoutQueryResult(commands, { mayBlock: [] });
    }
    const known = commands.value;
    const version = info.kind === 'known' ? parseRedisServerVersion(info.value) : undefined;
    const hasClusters = version === undefined || isRedisVersionAtLeast(version, 3, 0);
    const missing = expectedCommands
      .filter((name) => !known.has(name) && (name !== 'cluster' || hasClusters))
      .map((name) => name.toUpperCase());
    const missingForScan = listRedisScanCommands(info).filter((name) => !known.has(name));
    if (missingForScan.length > 0) {
      return scanCommandsMissing([...missing, ...missingForScan.map((name) => name.toUpperCase())], info);
    }
    if (missing.length === 0) return passOutcome('all are available');
    return warnOutcome(`unknown commands: ${missing.join(', ')}`, {
      required: expectedCommands.map((name) => name.toUpperCase()).join(' '),
      detail: 'Migration tools send the commands by their original names.',
      objects: missing,
      fix: buildRemoveRenameCommandFix(missing, info),
    });
  },
});

const scanDetail =
  'A scan copies every key with the commands that are renamed. Replication does not need these commands.';

function scanCommandsMissing(names: readonly string[], info: PreflightQueryResult<RedisInfo>): PreflightCheckOutcome {
  return failOutcome(['scan'], `unknown commands: ${names.join(', ')}`, {
    required: 'SELECT SCAN DUMP PTTL TYPE',
    detail: scanDetail,
    objects: names,
    fix: buildRemoveRenameCommandFix(names, info),
  });
}

/** The outcome when the server hides COMMAND and a command of the key sample was unknown to the server. */
function scanCommandUnknown(reason: string): PreflightCheckOutcome {
  return failOutcome(['scan'], reason, {
    required: 'SELECT SCAN DUMP PTTL TYPE',
    detail: scanDetail,
    fix: {
      text: 'If the address is that of a proxy, give the address of the server itself, or ask the operator of the proxy.',
    },
  });
}
