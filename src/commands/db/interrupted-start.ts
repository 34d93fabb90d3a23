import type { ApiClient } from '../../api/client.ts';
import { fetchOnlineMigration, type OnlineMigration } from '../../api/online-migration.ts';
import { CliError } from '../../base/errors.ts';
import { compareAccountsAndServerOrigins } from '../../base/identity.ts';
import { readStoredAccountAndServerOrigins } from '../../context/current-identity.ts';
import type { CommandContext } from '../../context.ts';
import type { DbSource } from '../../db/source/index.ts';
import { findRequests, type RequestOutcome, resolveRequest, sourceAddress } from '../../db/watch/index.ts';
import type { RecordedStart } from '../../db/watch/record.ts';

/** Determines and prints the result of a request to migrate into this cluster whose run was interrupted. Throws a CliError. */
export async function resolveInterruptedMigrationRequest(
  context: CommandContext,
  api: ApiClient,
  cluster: string,
): Promise<RequestOutcome | undefined> {
  const { host, output } = context;
  const identity = await readStoredAccountAndServerOrigins(context, context.settings());
  const now = host.clock.now();
  const resolved = await resolveRequest({ api, stateFolder: host.folders.state, now, identity }, cluster);
  if (resolved !== undefined) await output.note(resolved.note);
  return resolved;
}

/**
 * Reads the recorded migration from the service. Rejects when the profile belongs to another service or account than the
 * record, because the same UUID would identify another cluster there.
 */
export function createStatusFetcherOfRecordedMigration(
  context: CommandContext,
): (started: RecordedStart, signal: AbortSignal) => Promise<OnlineMigration | undefined> {
  return async ({ cluster, identity }, until) => {
    const settings = context.settings();
    const current = await readStoredAccountAndServerOrigins(context, settings);
    if (compareAccountsAndServerOrigins(identity, current) === 'different')
      throw new CliError('usage', 'the profile is not the one that started the migration');
    return fetchOnlineMigration(await context.api(settings), cluster, { until });
  };
}

/**
 * Determines and prints the result of an interrupted migration request for a source. If the service cannot be reached, the
 * watch continues, because it needs only the source.
 */
export async function resolveInterruptedMigrationRequests(context: CommandContext, source: DbSource): Promise<void> {
  const starts = findRequests(context.host.folders.state, sourceAddress(source));
  for (const { cluster, baseOrigin, at } of starts) {
    try {
      const settings = context.settings();
      if (settings.values.base_url !== baseOrigin)
        throw new CliError('usage', `the profile belongs to another service than ${baseOrigin}`);
      await resolveInterruptedMigrationRequest(context, await context.api(settings), cluster);
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      await context.output.note(
        `A run that was interrupted after ${new Date(at).toISOString()} may have started a migration of this source; the status of the migration could not be read: ${error.message}. Next: cloudctl db status ${cluster}`,
      );
    }
  }
}
