import { countOf } from '../../../../base/text.ts';
import { neededForSubscriptions } from '../../../../postgresql/subscription-workers.ts';
import { type CheckOutcome, failOutcome, passOutcome, skipOutcome, unknownOutcome } from '../../finding.ts';
import { declareServerCheck } from '../check.ts';
import { lockRoomOf } from '../lock-room.ts';
import type { PostgresqlFacts } from '../source-facts.ts';

export const targetWorkersCheck = declareServerCheck({
  id: 'target-workers',
  title: 'the target has enough workers and locks for the subscriptions',
  headline: 'The target has too few workers for the subscriptions',
  severity: { continuous: 'blocker' },
  queries: {},
  evaluate(_values, facts, { target }): CheckOutcome {
    const { databases } = facts;
    const read = target?.postgresql;
    if (read === undefined) return lockOutcome(facts, undefined) ?? skipOutcome('the target was not read');
    const { settings, subscriptions } = read;
    if (!settings.has('max_logical_replication_workers')) return skipOutcome('the target does not show its settings');
    const limit = (name: string) => Number(settings.get(name) ?? Number.POSITIVE_INFINITY);
    const workers = limit('max_logical_replication_workers');
    const needed = neededForSubscriptions(subscriptions + databases.length, {
      workers,
      copies: limit('max_sync_workers_per_subscription'),
    });
    const origins = settings.has('max_active_replication_origins')
      ? 'max_active_replication_origins'
      : 'max_replication_slots';
    // The workers that can run use up the origins, so an insufficient number of workers is reported alone.
    const required = [
      ['max_logical_replication_workers', needed.workers],
      ['max_worker_processes', needed.processes],
      [origins, workers < needed.workers ? 0 : needed.origins],
    ] as const;
    const low = required.filter(([name, least]) => limit(name) < least);
    if (low.length === 0)
      return lockOutcome(facts, settings) ?? passOutcome(String(workers), { required: String(needed.workers) });
    return failOutcome(['continuous'], low.map(([name]) => `${name} = ${limit(name)}`).join(', '), {
      required: low.map(([name, least]) => `${name} = ${least}`).join(', '),
      detail: `The migration creates a subscription for each of ${countOf(databases.length, 'database')}, and ${countOf(subscriptions, 'subscription is', 'subscriptions are')} enabled on the target. Each needs an apply worker, and their tables are copied by further workers; every worker needs a background process and a replication origin. A subscription without a worker waits without an error.`,
      fix: {
        by: 'the administrator of the target',
        text: `Set ${low.map(([name, least]) => `${name} to ${least} or more`).join(', ')} on the target and restart it, or migrate fewer databases at a time (--ignore-dbs).`,
      },
    });
  },
});

/**
 * CREATE SUBSCRIPTION locks every table of the publication in one transaction. A restore in one transaction locks every
 * relation, and indexes too.
 */
function lockOutcome(
  { copy }: PostgresqlFacts,
  settings: ReadonlyMap<string, string> | undefined,
): CheckOutcome | undefined {
  const { processes, room, limit } = lockRoomOf((name) => {
    const value = settings?.get(name);
    return value === undefined ? undefined : Number(value);
  }, settings?.get('huge_pages') === 'on');
  const counted = [...(copy?.perDatabase ?? [])].map(([name, { tables, locks }]) => {
    return { name, tables, relations: Math.max(tables, locks.created ?? 0) };
  });
  const refused = settings === undefined ? [] : counted.filter(({ tables }) => tables > limit);
  const beyond = refused.length > 0 ? refused : counted.filter(({ relations }) => relations > limit);
  const [most] = beyond.toSorted((a, b) => b.relations - a.relations);
  if (most === undefined) return undefined;
  const needed = Math.ceil((most.relations * 1.5) / processes);
  const observed =
    settings === undefined ? `${countOf(most.relations, 'relation')} in ${most.name}` : `${room} locks available`;
  const more = {
    headline: 'The target may have too few locks for the schema',
    required: `max_locks_per_transaction at least ${needed} on the target`,
    detail: `CREATE SUBSCRIPTION locks every table in one transaction: ${most.tables} in ${most.name}; a restore in one transaction locks ${most.relations} relations, with their indexes. ${settings === undefined ? 'A target with the settings of initdb has' : 'The target has'} room for ${room} locks: "out of shared memory".`,
    only: beyond.map(({ name }) => name),
    fix: {
      by: 'the administrator of the target',
      text: `Set max_locks_per_transaction to ${needed} or more on the target and restart it.`,
    },
  };
  if (refused.length > 0) return failOutcome(['continuous'], observed, more);
  return {
    ...unknownOutcome(observed),
    ...more,
    premise: `the target has the locks for ${most.relations} relations, or restores the schema in several transactions`,
    settledBy: `${settings === undefined ? '--target, or ' : ''}--accept target-workers`,
  };
}
