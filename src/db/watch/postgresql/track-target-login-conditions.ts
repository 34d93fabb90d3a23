import type { WatchedServerFacts, WatchedSetting, WatchedSlot } from './server-facts.ts';
import type { WatchedSourceBaseline } from './watched-source-baseline.ts';

/** The facts of the server in the first poll, and the changes since then that affect the login of the target. */
export interface TrackedTargetLoginConditions {
  readonly first: WatchedServerFacts;
  /**
   * Processes that served the slots of the migration in the poll that first found a change of the role or the host
   * rules.
   */
  readonly pidsAtChange: readonly number[] | undefined;
}

/**
 * Compares the role and the host rules with those of the baseline, or of the first poll if there is no baseline. A
 * change of the role or the host rules counts as harmless when the target has connected again after it.
 * @param slots of the migration
 */
export function trackTargetLoginConditions(
  previous: TrackedTargetLoginConditions | undefined,
  server: WatchedServerFacts,
  slots: readonly WatchedSlot[],
  baseline: WatchedSourceBaseline | undefined,
): TrackedTargetLoginConditions {
  const first = previous?.first ?? firstFacts(server, baseline);
  if (accessText(first) === accessText(server)) return { first, pidsAtChange: undefined };
  const pids = slots.flatMap(({ active, pid }) => (active && pid !== undefined ? [pid] : []));
  const { pidsAtChange = pids } = previous ?? {};
  const isReconnected =
    slots.length > 0 && pids.length === slots.length && !pids.some((pid) => pidsAtChange.includes(pid));
  return isReconnected && previous?.pidsAtChange !== undefined
    ? { first: { ...first, role: server.role, hbaRuleLines: server.hbaRuleLines }, pidsAtChange: undefined }
    : { first, pidsAtChange };
}

function firstFacts(server: WatchedServerFacts, baseline: WatchedSourceBaseline | undefined): WatchedServerFacts {
  if (baseline === undefined) return server;
  const settings = [...baseline.settings].map(([name, value]): [string, WatchedSetting] => [
    name,
    { value, pendingRestart: false, inFile: undefined },
  ]);
  return {
    ...server,
    settings: new Map([...server.settings, ...settings]),
    hbaRuleLines: baseline.hbaRuleLines ?? server.hbaRuleLines,
    // The role that runs the watch may differ from the role that migrates.
    role: baseline.role?.name === server.role?.name ? (baseline.role ?? server.role) : server.role,
  };
}

function accessText({ role, hbaRuleLines }: WatchedServerFacts): string {
  return JSON.stringify([role === undefined ? undefined : { ...role, secondsLeft: undefined }, hbaRuleLines]);
}
