import { CliError } from '../../base/errors.ts';
import { sanitizeReportLine } from '../../base/sanitize.ts';
import { countOf } from '../../base/text.ts';
import { countWrites } from './activity.ts';
import type { Attempt } from './attempt.ts';
import type { Fence, Sighting } from './pair.ts';
import { listShort } from './progress.ts';

/** Milliseconds without a write after which the application counts as stopped. */
const restTime = 1000;
export const lookPause = 200;
/** Milliseconds between two questions to the service while an application is awaited. */
const migrationPause = 10_000;

/** Waits until nothing is written any more and the target has everything. Other sessions are listed, not waited for. */
export async function waitForRest(attempt: Attempt): Promise<Sighting> {
  const { options, progress } = attempt;
  const { clock } = options;
  const { sequences: _s, contents: _c, ...facts } = progress.facts;
  progress.facts = facts;
  progress.contentsText = undefined;
  let rest: Sighting | undefined;
  let restSince = 0;
  let first: Sighting | undefined;
  const startedAt = clock.now();
  let readAt = startedAt;
  let isFenceSaid = false;
  for (;;) {
    const at = clock.now();
    const seen = await attempt.lookAgain();
    if (seen !== undefined) {
      first ??= seen;
      const isStill = rest !== undefined && !hasMoved(rest, seen);
      if (!isStill) [rest, restSince] = [seen, at];
      const { delivery, activity, sessions } = seen;
      const isAtRest = activity.open.length === 0 && isStill && at - restSince >= restTime;
      const isDelivered = delivery.state === 'received';
      progress.add({
        writes: {
          count: isAtRest ? 0 : Math.max(isStill ? 0 : 1, countWrites(first.activity, activity)),
          open: activity.open,
          seconds: Math.round((at - (isAtRest ? restSince : startedAt)) / 1000),
        },
        // While an application writes, a lag of 0 is over at once.
        lag: { isIdle: isAtRest && isDelivered, observed: delivery.observed },
      });
      if (isAtRest && (isDelivered || attempt.hasEnded)) {
        if (sessions.length === 0) progress.unproven.delete('sessions');
        else
          progress.unproven.set(
            'sessions',
            `${countOf(sessions.length, 'other session')} could still write: ${listShort(sessions)}; end their programs before the switch, because what they write stays on the source`,
          );
        attempt.waitedSince = at;
        await progress.show('nothing writes to the source');
        return rest ?? seen;
      }
      if (isAtRest && delivery.state === 'unseen') {
        // A migration that is stopping has removed its subscription, and may still fill materialized views.
        // Another run may have stopped it meanwhile.
        await attempt.readMigration();
        if (!attempt.isStopped) throw unseen(attempt, delivery.observed);
      }
      if (!isAtRest && !isFenceSaid && at - startedAt >= 2 * restTime) {
        isFenceSaid = true;
        await sayFence(attempt, seen);
      }
      await progress.show(
        isAtRest ? 'waiting for the target' : 'stop the application now; waiting for the end of the writes',
      );
      // The migration may fail or be stopped while an application is awaited.
      if (at - readAt >= migrationPause) {
        readAt = at;
        await attempt.readMigration();
      }
    }
    if (clock.now() - attempt.waitedSince >= attempt.options.waitTimeout)
      throw progress.timedOut('stop the application, then run', seen === undefined ? [] : writersOf(seen));
    await clock.sleep(lookPause, attempt.signal);
  }
}

function unseen({ options, progress }: Attempt, observed: string): CliError {
  const { commands } = options;
  return new CliError('cutover_incomplete', 'the target does not show what it has received', {
    detail: `${observed}; ${progress.changedText()}`,
    hint: `check that \`--target\` is the server of the cluster, then run \`${commands.again}\``,
  });
}

async function sayFence(attempt: Attempt, { activity, sessions }: Sighting): Promise<void> {
  const { progress } = attempt;
  const { view } = attempt.options;
  const fence: Fence | string = await (await attempt.pair()).fence();
  const listed = writersOf({ activity, sessions }).map((one) => `  ${sanitizeReportLine(one)}`);
  await view.say([
    listed.length === 0
      ? 'No session on the source could write now. Clients that connect for each transaction are not seen.'
      : `Sessions on the source that could write (${listed.length}):`,
    ...listed.slice(0, 20),
    ...(listed.length > 20 ? [`  and ${listed.length - 20} more`] : []),
    ...(fence === undefined
      ? []
      : typeof fence === 'string'
        ? [`No fence: ${fence}.`]
        : [
            `To keep them from writing (${fence.limits}):`,
            ...fence.commands.map((one) => `  ${one}`),
            'To undo it:',
            ...fence.undo.map((one) => `  ${one}`),
          ]),
  ]);
  if (typeof fence !== 'object') return;
  progress.fence = fence;
  progress.log('fence printed', [...fence.commands, 'undo:', ...fence.undo].join('\n'));
}

export function hasMoved(rest: Sighting, seen: Sighting): boolean {
  return countWrites(rest.activity, seen.activity) > 0 || seen.activity.open.length > 0;
}

/** Sessions, and transactions that have not ended of others than these. */
export function writersOf({ activity, sessions }: Pick<Sighting, 'activity' | 'sessions'>): readonly string[] {
  return [...sessions, ...activity.open.filter((one) => !sessions.some((session) => session.startsWith(one)))];
}

export function describeMove(rest: Sighting, seen: Sighting): string {
  const count = countWrites(rest.activity, seen.activity);
  return [`${count} since the rest`, ...seen.activity.open].join('; ');
}
