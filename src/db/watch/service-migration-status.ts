import type { OnlineMigration } from '../../api/online-migration.ts';
import {
  isEndedMigrationStatus,
  isFailedMigrationStatus,
  listMigrationFailures,
  type MigrationFailure,
} from '../../api/online-migration.ts';
import { CliError } from '../../base/errors.ts';
import { isJsonRecord, readStringField, readStringList } from '../../base/json.ts';
import { sanitizeLine } from '../../base/sanitize.ts';
import { classifyTargetStopMessage, targetStopCauseHints } from './classify-target-stop-message.ts';
import { readServiceWord } from './identity.ts';
import {
  narrowStopCauseByServiceMessages,
  type ServiceMigrationMessage,
} from './narrow-stop-cause-by-service-messages.ts';
import { failureHeadline } from './service-failures.ts';
import type { MigrationStatusSample, WatchRuleViolation } from './status-sample.ts';

/** What the service reports about the migration that is watched. */
export type ServiceMigrationStatus =
  | { readonly kind: 'known'; readonly migration: OnlineMigration }
  | { readonly kind: 'none' }
  /** The request for the status failed; `reason` is a clause without a secret. */
  | { readonly kind: 'unavailable'; readonly reason: string };

export interface ServiceStatusPoller {
  /**
   * The last known status at the service. Requests the status again when the last request is older than 10 s, and does not
   * wait for the response. If the last request failed with an error that is not a CliError, throws this error.
   */
  latest(): ServiceMigrationStatus | undefined;
  /** Resolves when no request is pending; at once if none is. */
  settled(): Promise<void>;
}

const pollIntervalMs = 10_000;

/**
 * @param fetchStatus reads the status; its result is undefined if the service has no migration
 * @param now milliseconds since the epoch
 */
export function createServiceStatusPoller(
  fetchStatus: () => Promise<OnlineMigration | undefined>,
  now: () => number,
): ServiceStatusPoller {
  let known: ServiceMigrationStatus | undefined;
  let lastRequestAt = Number.NEGATIVE_INFINITY;
  let pending: Promise<void> | undefined;
  let failure: { readonly error: unknown } | undefined;
  const request = async (): Promise<ServiceMigrationStatus> => {
    try {
      const migration = await fetchStatus();
      return migration === undefined ? { kind: 'none' } : { kind: 'known', migration };
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      return { kind: 'unavailable', reason: sanitizeLine(error.message, 200) };
    }
  };
  return {
    latest() {
      if (failure !== undefined) throw failure.error;
      if (pending === undefined && now() - lastRequestAt >= pollIntervalMs) {
        lastRequestAt = now();
        pending = request()
          .then(
            (status) => {
              known = status;
            },
            (error: unknown) => {
              failure = { error };
            },
          )
          .finally(() => {
            pending = undefined;
          });
      }
      return known;
    },
    async settled() {
      await pending;
    },
  };
}

/** The databases that failed, by the service; one that failed never catches up, even if others do. */
export function listFailedDatabasesAtService(
  status: ServiceMigrationStatus | undefined,
  ignoreDbs: readonly string[],
): readonly MigrationFailure[] {
  if (status?.kind !== 'known') return [];
  return listMigrationFailures(status.migration, ignoreDbs).filter(({ database }) => database !== undefined);
}

/** Whether the service reports that the migration failed. */
export function isMigrationFailedAtService(status: ServiceMigrationStatus | undefined): boolean {
  return status?.kind === 'known' && isFailedMigrationStatus(status.migration.status);
}

/**
 * Adds the status at the service to a sample: a failure or end that the service reports overrides the state of the
 * source.
 */
export function addServiceStatusToMigrationSample(
  sample: MigrationStatusSample,
  status: ServiceMigrationStatus | undefined,
  cluster: string,
  id?: string,
): MigrationStatusSample {
  if (status === undefined) return sample;
  if (status.kind === 'unavailable')
    return {
      ...sample,
      notes: [...(sample.notes ?? []), `the status could not be read from the service: ${status.reason}`],
    };
  const violation = violationOf(status, cluster, id);
  const server = status.kind === 'known' ? status.migration.status : undefined;
  const narrowed =
    status.kind === 'known' ? narrowStopCauseByServiceMessages(sample, messagesOf(status.migration)) : sample;
  const told = status.kind === 'known' ? targetViolation(narrowed, messagesOf(status.migration), hintOf(cluster)) : [];
  return {
    ...narrowed,
    ...(server === undefined ? {} : { server_status: server }),
    violations: [...(violation === undefined ? [] : [violation]), ...told, ...narrowed.violations],
  };
}

function violationOf(
  status: Exclude<ServiceMigrationStatus, { readonly kind: 'unavailable' }>,
  cluster: string,
  id: string | undefined,
): WatchRuleViolation | undefined {
  const hint = hintOf(cluster);
  if (status.kind === 'none')
    return { rule: 'server-status', observed: 'the service shows no migration into the cluster', hint };
  const { migration } = status;
  const { denied } = readServiceWord(id, migration);
  if (denied !== undefined) return { rule: 'server-status', observed: denied, hint };
  if (!isEndedMigrationStatus(migration.status)) {
    const failures = listMigrationFailures(migration);
    if (failures.length === 0) return undefined;
    return { rule: 'server-status', observed: `the service reports: ${failureHeadline(failures)}`, hint };
  }
  const reasons = reasonsOf(migration);
  const because = reasons.length === 0 ? '' : `: ${reasons.join('; ')}`;
  return { rule: 'server-status', observed: `the service reports the status ${migration.status}${because}`, hint };
}

function hintOf(cluster: string): string {
  return `run \`cloudctl db status ${cluster}\` for the state of each database`;
}

/** Rules of a Redis source that cannot tell what is wrong with the target. */
const rulesAboutTarget: ReadonlySet<string> = new Set(['full-sync-loop', 'replica-gone', 'replica-timeout']);

/** What the service says of its target comes before what the source supposes. */
function targetViolation(
  { violations }: MigrationStatusSample,
  messages: readonly ServiceMigrationMessage[],
  hint: string,
): readonly WatchRuleViolation[] {
  const [message] = messages;
  if (message === undefined || !violations.some(({ rule }) => rulesAboutTarget.has(rule))) return [];
  const observed = `the service reports of its target: ${sanitizeLine(message.text, 300)}`;
  const known = classifyTargetStopMessage(message.text);
  return [{ rule: known?.rule ?? 'target-reported', observed, hint: targetStopCauseHints[known?.rule ?? ''] ?? hint }];
}

/** Everything that the service tells about the state of each database. */
function messagesOf({ raw }: OnlineMigration): readonly ServiceMigrationMessage[] {
  const databases = Array.isArray(raw.databases) ? raw.databases.filter(isJsonRecord) : [];
  // The reason of the whole migration repeats the reasons of its databases, so it is left out if there are databases.
  const parts = databases.length === 0 ? [raw] : databases.slice(0, 1000);
  return parts.flatMap((one) => {
    const texts = [readStringField(one, 'error'), readStringField(one, 'reason'), ...readStringList(one.warnings)];
    const database = one === raw ? undefined : readStringField(one, 'name');
    return texts.flatMap((text) => (text === undefined ? [] : [{ database, text: text.slice(0, 2000) }]));
  });
}

/** Reasons that the service tells about the migration and about three of its databases at most. */
function reasonsOf({ raw }: OnlineMigration): readonly string[] {
  const databases = Array.isArray(raw.databases) ? raw.databases.filter(isJsonRecord) : [];
  const parts = [raw, ...databases].flatMap((one) => {
    const reason = readStringField(one, 'reason') ?? readStringField(one, 'error');
    const name = one === raw ? undefined : readStringField(one, 'name');
    return reason === undefined ? [] : [name === undefined ? reason : `${name}: ${reason}`];
  });
  return [...new Set(parts)].slice(0, 4).map((text) => sanitizeLine(text, 300));
}
