import type { RedisInfo } from '../../../../redis/info.ts';
import { isAtLeast, parseServerVersion } from '../../../../redis/version.ts';
import { type CheckOutcome, failOutcome, passOutcome, skipOutcome, warnOutcome } from '../../finding.ts';
import { markOptional, type QueryResult } from '../../query.ts';
import {
  declareRedisCheck,
  isSentinel,
  outcomeWithoutValue,
  removeRenameFix,
  scanCommands,
  sentinelReason,
} from '../check.ts';
import { commandsQuery, infoQuery } from '../queries.ts';

/** The commands that migration tools and the preflight send. */
const expectedCommands = ['sync', 'psync', 'info', 'config', 'command', 'cluster'] as const;

export const renamedCommandsCheck = declareRedisCheck({
  id: 'renamed-commands',
  title: 'no command that a migration uses is renamed',
  headline: 'Some commands that a migration uses are renamed or removed',
  severity: { continuous: 'warning', scan: 'blocker' },
  queries: {
    commands: markOptional(commandsQuery),
    info: markOptional(infoQuery),
  },
  evaluate({ commands, info }, { sample }) {
    if (isSentinel(info)) return skipOutcome(sentinelReason);
    if (commands.kind !== 'known') {
      return sample.kind === 'missing'
        ? scanCommandUnknown(sample.reason)
        : outcomeWithoutValue(commands, { mayBlock: [] });
    }
    const known = commands.value;
    const version = info.kind === 'known' ? parseServerVersion(info.value) : undefined;
    const hasClusters = version === undefined || isAtLeast(version, 3, 0);
    const missing = expectedCommands
      .filter((name) => !known.has(name) && (name !== 'cluster' || hasClusters))
      .map((name) => name.toUpperCase());
    const missingForScan = scanCommands(info).filter((name) => !known.has(name));
    if (missingForScan.length > 0) {
      return scanCommandsMissing([...missing, ...missingForScan.map((name) => name.toUpperCase())], info);
    }
    if (missing.length === 0) return passOutcome('all are available');
    return warnOutcome(`unknown commands: ${missing.join(', ')}`, {
      required: expectedCommands.map((name) => name.toUpperCase()).join(' '),
      detail: 'Migration tools send the commands by their original names.',
      objects: missing,
      fix: removeRenameFix(missing, info),
    });
  },
});

const scanDetail =
  'A scan copies every key with the commands that are renamed. Replication does not need these commands.';

function scanCommandsMissing(names: readonly string[], info: QueryResult<RedisInfo>): CheckOutcome {
  return failOutcome(['scan'], `unknown commands: ${names.join(', ')}`, {
    required: 'SELECT SCAN DUMP PTTL TYPE',
    detail: scanDetail,
    objects: names,
    fix: removeRenameFix(names, info),
  });
}

/** The outcome when the server hides COMMAND and a command of the key sample was unknown to the server. */
function scanCommandUnknown(reason: string): CheckOutcome {
  return failOutcome(['scan'], reason, {
    required: 'SELECT SCAN DUMP PTTL TYPE',
    detail: scanDetail,
    fix: {
      text: 'If the address is that of a proxy, give the address of the server itself, or ask the operator of the proxy.',
    },
  });
}
