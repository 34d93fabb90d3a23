import { type Info, keyspaceOf } from '../../../redis/info.ts';
import { isAtLeast, serverVersion } from '../../../redis/version.ts';
import { fail, type Outcome, pass, skip, warn } from '../../finding.ts';
import { type Answer, maybe } from '../ask.ts';
import { commands } from '../asks/commands.ts';
import { info } from '../asks/info.ts';
import { check } from '../check.ts';
import { unanswered } from '../findings.ts';
import { isSentinel, sentinelWords } from '../sentinel.ts';
import { unrename } from './psync-command.ts';

/** What engines ask for, and what is asked here. */
const expected = ['sync', 'psync', 'info', 'config', 'command', 'cluster'] as const;

export const renamedCommands = check({
  id: 'renamed-commands',
  title: 'no command was renamed that a migration uses',
  needs: 'entry',
  mayBlock: ['scan'],
  asks: { known: maybe(commands), server: maybe(info) },
  judge({ known: listed, server }, { sample }) {
    if (isSentinel(server)) return skip(sentinelWords);
    if (listed.kind !== 'known')
      return sample.kind === 'missing' ? unscanned(sample.reason) : unanswered(listed, { mayBlock: [] });
    const known = listed.value;
    const version = server.kind === 'known' ? serverVersion(server.value) : undefined;
    const hasClusters = version === undefined || isAtLeast(version, 3, 0);
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
      fix: unrename(lacking, server),
    });
  },
});

/** A new connection is in database 0, so only keys elsewhere need SELECT. */
function wayOfScan(server: Answer<Info>): readonly string[] {
  const isAlone = server.kind === 'known' && keyspaceOf(server.value).every(({ index }) => index === 0);
  return [...(isAlone ? [] : ['select']), 'scan', 'dump', 'pttl', 'type'];
}

function noScan(names: readonly string[], server: Answer<Info>): Outcome {
  return fail(['scan'], `unknown to the server: ${names.join(', ')}`, {
    required: 'SELECT SCAN DUMP PTTL TYPE',
    detail: 'A scan takes every key with these commands. Replication needs none of them.',
    objects: names,
    fix: unrename(names, server),
  });
}

/** COMMAND is hidden, and what was really sent was not known. */
function unscanned(reason: string): Outcome {
  return fail(['scan'], reason, {
    required: 'SELECT SCAN DUMP PTTL TYPE',
    detail: 'A scan takes every key with these commands. Replication needs none of them.',
    fix: { text: 'Give the address of the server itself when a proxy stands before it, or ask who runs it.' },
  });
}
