import { parseKeyspace, type RedisInfo } from '../../../redis/info.ts';
import { isVersionAtLeast, parseServerVersion } from '../../../redis/version.ts';
import { type CheckOutcome, fail, pass, skip, warn } from '../../finding.ts';
import { optionalQuery, type QueryResult } from '../../query.ts';
import { redisCheck } from '../check.ts';
import { removeRenameFix } from '../fixes.ts';
import { outcomeWithoutResult } from '../outcome-without-result.ts';
import { knownCommandsQuery, type QueriedCommand } from '../queries/commands.ts';
import { infoQuery } from '../queries/info.ts';
import { isSentinel, sentinelReason } from '../sentinel.ts';

/** The commands that migration tools and the preflight send. */
const expectedCommands = ['sync', 'psync', 'info', 'config', 'command', 'cluster'] as const;

export const renamedCommandsCheck = redisCheck({
  id: 'renamed-commands',
  title: 'no command that a migration uses is renamed',
  headline: 'Some commands that a migration uses are renamed or removed',
  needs: 'connection',
  severity: { continuous: 'warning', scan: 'blocker' },
  queries: { commands: optionalQuery(knownCommandsQuery), info: optionalQuery(infoQuery) },
  evaluate({ commands, info }, { sample }) {
    if (isSentinel(info)) return skip(sentinelReason);
    if (commands.kind !== 'known') {
      return sample.kind === 'missing'
        ? scanCommandUnknown(sample.reason)
        : outcomeWithoutResult(commands, { mayBlock: [] });
    }
    const known = commands.value;
    const version = info.kind === 'known' ? parseServerVersion(info.value) : undefined;
    const hasClusters = version === undefined || isVersionAtLeast(version, 3, 0);
    const missing = expectedCommands
      .filter((name) => !known.has(name) && (name !== 'cluster' || hasClusters))
      .map((name) => name.toUpperCase());
    const missingForScan = scanCommands(info).filter((name) => !known.has(name));
    if (missingForScan.length > 0) {
      return scanCommandsMissing([...missing, ...missingForScan.map((name) => name.toUpperCase())], info);
    }
    if (missing.length === 0) return pass('all are available');
    return warn(`unknown commands: ${missing.join(', ')}`, {
      required: expectedCommands.map((name) => name.toUpperCase()).join(' '),
      detail: 'Migration tools send the commands by their original names.',
      objects: missing,
      fix: removeRenameFix(missing, info),
    });
  },
});

/** The command SELECT is needed for keys outside database 0, and if it is not known which databases have keys. */
function scanCommands(info: QueryResult<RedisInfo>): readonly QueriedCommand[] {
  const isDefaultOnly = info.kind === 'known' && parseKeyspace(info.value).every(({ index }) => index === 0);
  return [...(isDefaultOnly ? [] : (['select'] as const)), 'scan', 'dump', 'pttl', 'type'];
}

const scanDetail =
  'A scan copies every key with the commands that are renamed. Replication does not need these commands.';

function scanCommandsMissing(names: readonly string[], info: QueryResult<RedisInfo>): CheckOutcome {
  return fail(['scan'], `unknown commands: ${names.join(', ')}`, {
    required: 'SELECT SCAN DUMP PTTL TYPE',
    detail: scanDetail,
    objects: names,
    fix: removeRenameFix(names, info),
  });
}

/** The server hides COMMAND, and did not know a command of the key sample. */
function scanCommandUnknown(reason: string): CheckOutcome {
  return fail(['scan'], reason, {
    required: 'SELECT SCAN DUMP PTTL TYPE',
    detail: scanDetail,
    fix: {
      text: 'If the address is that of a proxy, give the address of the server itself, or ask the operator of the proxy.',
    },
  });
}
