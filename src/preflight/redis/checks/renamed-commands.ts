import { parseKeyspace, type RedisInfo } from '../../../redis/info.ts';
import { isVersionAtLeast, parseServerVersion } from '../../../redis/version.ts';
import { type CheckOutcome, fail, pass, skip, warn } from '../../finding.ts';
import { redisCheck } from '../check.ts';
import { unansweredOutcome } from '../findings.ts';
import { knownCommandsQuery } from '../queries/commands.ts';
import { infoQuery } from '../queries/info.ts';
import { optionalQuery, type RedisQueryResult } from '../query.ts';
import { isSentinel, sentinelReason } from '../sentinel.ts';
import { removeRenameFix } from './psync-command.ts';

/** What engines ask for, and what is asked here. */
const expected = ['sync', 'psync', 'info', 'config', 'command', 'cluster'] as const;

export const renamedCommandsCheck = redisCheck({
  id: 'renamed-commands',
  title: 'no command was renamed that a migration uses',
  needs: 'entry',
  mayBlock: ['scan'],
  queries: { known: optionalQuery(knownCommandsQuery), server: optionalQuery(infoQuery) },
  evaluate({ known: listed, server }, { sample }) {
    if (isSentinel(server)) return skip(sentinelReason);
    if (listed.kind !== 'known')
      return sample.kind === 'missing' ? unscanned(sample.reason) : unansweredOutcome(listed, { mayBlock: [] });
    const known = listed.value;
    const version = server.kind === 'known' ? parseServerVersion(server.value) : undefined;
    const hasClusters = version === undefined || isVersionAtLeast(version, 3, 0);
    const lacking = expected
      .filter((name) => !known.has(name) && (name !== 'cluster' || hasClusters))
      .map((name) => name.toUpperCase());
    const unread = wayOfScan(server).filter((name) => !known.has(name));
    if (unread.length > 0) return noScan([...lacking, ...unread.map((name) => name.toUpperCase())], server);
    if (lacking.length === 0) return pass('all of them are there');
    return warn(`unknown to the server: ${lacking.join(', ')}`, {
      required: expected.map((name) => name.toUpperCase()).join(' '),
      detail: 'Tools that move data expect these commands under their own names.',
      objects: lacking,
      fix: removeRenameFix(lacking, server),
    });
  },
});

/** A new connection is in database 0, so only keys elsewhere need SELECT. */
function wayOfScan(server: RedisQueryResult<RedisInfo>): readonly string[] {
  const isAlone = server.kind === 'known' && parseKeyspace(server.value).every(({ index }) => index === 0);
  return [...(isAlone ? [] : ['select']), 'scan', 'dump', 'pttl', 'type'];
}

function noScan(names: readonly string[], server: RedisQueryResult<RedisInfo>): CheckOutcome {
  return fail(['scan'], `unknown to the server: ${names.join(', ')}`, {
    required: 'SELECT SCAN DUMP PTTL TYPE',
    detail: 'A scan takes every key with these commands. Replication needs none of them.',
    objects: names,
    fix: removeRenameFix(names, server),
  });
}

/** COMMAND is hidden, and what was really sent was not known. */
function unscanned(reason: string): CheckOutcome {
  return fail(['scan'], reason, {
    required: 'SELECT SCAN DUMP PTTL TYPE',
    detail: 'A scan takes every key with these commands. Replication needs none of them.',
    fix: { text: 'Give the address of the server itself when a proxy stands before it, or ask who runs it.' },
  });
}
