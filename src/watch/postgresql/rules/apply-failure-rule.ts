import type { Violation } from '../../status-sample.ts';
import { formatElapsed } from '../../units.ts';
import { findSlot, type SlotWithSender, samplesSince, type WatchRule, type WatchRuleInput } from '../rule-input.ts';
import type { ServerFacts } from '../server-facts.ts';

/** The rule for a target that repeatedly fails to apply a change, applies no changes, or is not connected. */
export const applyFailureRule: WatchRule = (input) => input.slots.flatMap((seenSlot) => checkSlot(seenSlot, input));

function checkSlot({ name, database, slot, wasActive }: SlotWithSender, input: WatchRuleInput): readonly Violation[] {
  if (slot === undefined || !wasActive || slot.walStatus === 'lost' || slot.invalidated !== undefined) return [];
  const { window, limits, now } = input;
  const stuck = samplesSince(window, limits.failingApply);
  if (stuck !== undefined && isFrozen(stuck, name) && attemptsIn(stuck, name) >= limits.failedAttempts) {
    return [
      {
        rule: 'apply-failing',
        database,
        observed: `the target repeatedly fails on the same change: ${formatElapsed((now.at - stuck[0]!.at) / 1000)} without progress of slot ${name}`,
        hint: `check for ${likelyCauses(input.warned).join('; ')}; fix it on the target, or stop the migration and start it again`,
      },
    ];
  }
  const idle = samplesSince(window, 3 * limits.failingApply);
  if (slot.active && idle !== undefined && isApplyBlocked(idle, name)) {
    return [
      {
        rule: 'apply-blocked',
        database,
        observed: `the target is connected but has not confirmed anything of slot ${name} for ${formatElapsed((now.at - idle[0]!.at) / 1000)}`,
        hint: 'wait for a large transaction to be applied, or end the session that holds a lock on the target',
      },
    ];
  }
  const quiet = samplesSince(window, limits.inactiveSlot);
  if (quiet === undefined || !isFrozen(quiet, name) || attemptsIn(quiet, name) > 0) return [];
  const lasted = `the slot ${name} has had no consumer for ${formatElapsed((now.at - quiet[0]!.at) / 1000)}`;
  if (slot.inactiveSince !== undefined || slot.decoded !== undefined) {
    return [
      {
        rule: 'target-disconnected',
        database,
        observed: lasted,
        hint: 'check that the target is running, and the firewalls, trusted sources, pg_hba.conf, listen_addresses and the password; the source retains WAL until the target reconnects',
      },
    ];
  }
  return [
    {
      rule: 'apply-failing-or-disconnected',
      database,
      observed: `${lasted}: the target fails on a change or cannot connect (the PostgreSQL version of the source does not report which)`,
      hint: `search the log of the source for "terminating walsender" and refused logins; else check for ${likelyCauses(input.warned).join('; ')}`,
    },
  ];
}

/**
 * Whether the slot was inactive in at least 80 % of the samples, and the target confirmed no changes although there are
 * some.
 */
function isFrozen(window: readonly ServerFacts[], name: string): boolean {
  const all = window.flatMap((facts) => findSlot(facts, name) ?? []);
  const inactive = all.filter(({ active }) => !active).length;
  const [first] = all;
  const behind = window.at(-1)?.walPosition ?? 0;
  return (
    first !== undefined &&
    all.at(-1)?.active === false &&
    inactive >= 0.8 * all.length &&
    all.every(({ flushed }) => flushed === first.flushed) &&
    (first.flushed ?? 0) < behind
  );
}

/** Whether one consumer was connected all the time and confirmed no changes while the WAL grew. */
function isApplyBlocked(window: readonly ServerFacts[], name: string): boolean {
  const all = window.map((facts) => findSlot(facts, name));
  const [first] = all;
  return (
    first?.pid !== undefined &&
    all.every((slot) => slot?.pid === first.pid && slot?.flushed === first.flushed) &&
    (first.flushed ?? 0) < (window[0]?.walPosition ?? 0) &&
    (window.at(-1)?.walPosition ?? 0) > (window[0]?.walPosition ?? 0)
  );
}

/**
 * Number of failed attempts of the target to apply changes. An attempt to apply lasts milliseconds, so a poll rarely
 * observes it, but other values change: inactive_since (PostgreSQL 17 and later) and the number of decoded transactions
 * (14 and later).
 */
function attemptsIn(window: readonly ServerFacts[], name: string): number {
  return window.slice(1).filter((facts, at) => {
    const [before, after] = [findSlot(window[at]!, name), findSlot(facts, name)];
    if (before === undefined || after === undefined) return false;
    const left =
      before.inactiveSince !== undefined &&
      after.inactiveSince !== undefined &&
      before.inactiveSince !== after.inactiveSince;
    const decoded = before.decoded !== undefined && after.decoded !== undefined && after.decoded > before.decoded;
    return left || decoded || after.active !== before.active;
  }).length;
}

/** Likely causes of the failure; those that preflight warned about come first. */
function likelyCauses(warned: readonly string[]): readonly string[] {
  const known: readonly (readonly [readonly string[], string])[] = [
    [['replica-identity', 'full-without-eq'], 'rows without a replica identity, or with columns that have no equality'],
    [['ext-tables', 'extensions'], 'published tables of extensions'],
    [['ddl-activity', 'partitions', 'unlogged'], 'tables created or altered since the start'],
    [['always-triggers', 'generated-columns'], 'triggers and generated columns on the target'],
    [[], 'conflicting rows written on the target (duplicate key)'],
    [[], 'a different schema on the target'],
  ];
  const ranked = known.toSorted(([a], [b]) => Number(hit(b)) - Number(hit(a)));
  return ranked
    .map(([ids, words]) => (hit(ids) ? `${words} (preflight warning ${ids.find(isWarned)})` : words))
    .slice(0, 4);

  function hit(ids: readonly string[]): boolean {
    return ids.some(isWarned);
  }
  function isWarned(id: string): boolean {
    return warned.includes(id);
  }
}
