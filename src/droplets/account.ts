import type { Actor } from '../api/actor.ts';
import { type RefusedHints, toApiError } from '../api/api-response.ts';
import type { ApiClient } from '../api/client.ts';
import type { Waits } from '../api/waits.ts';
import { CliError, usageError } from '../base/errors.ts';
import { type ActorIdentity, compareIdentities, describeIdentity } from '../base/identity.ts';
import { quoteShellArg } from '../base/text.ts';
import type { CommandIo } from '../cli/command-io.ts';
import { type ProfileSettings, profileWords } from '../config/settings.ts';
import { isLoopbackHost } from '../platform/loopback-host.ts';
import type { Batch } from './events.ts';
import type { BatchState } from './state.ts';

/** The members in a ledger's first line that identify the account that started the batch. */
export function accountFields({ authOrigin, clientId, accountUuid, team }: ActorIdentity): Partial<Batch> {
  const fields = { account: accountUuid, team, auth_url: authOrigin, client_id: clientId };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

export function accountOf({ account, team, auth_url, base_url, client_id }: Batch): ActorIdentity {
  return { accountUuid: account, team, authOrigin: auth_url, baseOrigin: base_url, clientId: client_id };
}

/** What a command has of its profile besides who it acts as. */
export interface ProfileIo extends CommandIo {
  /** Throws where the profile or its settings are wrong. */
  readonly settings: () => ProfileSettings;
}

/** Requires that this command acts as the account, and on the server, of a ledger; resolves with the account. */
export async function requireAccount(
  actor: Actor,
  state: BatchState,
  waits: Waits,
  newBatchHint?: string,
): Promise<ActorIdentity> {
  const current = await actor.identity(waits);
  await requireSameAccount({
    api: await actor.api(),
    state,
    current,
    loginHint: actor.loginHint(state.batch),
    loginHints: actor.loginHints(),
    newBatchHint,
  });
  return current;
}

/**
 * On another server the lookups would find no droplet of the batch, and all droplets would be created again.
 * @param left the hint for a ledger whose server is gone
 */
export function requireProfile(
  { settings }: Pick<ProfileIo, 'settings'>,
  { profile, base_url }: Batch,
  left: () => string,
): void {
  const { profileName, profile: reference, storedBaseUrl, values } = settings();
  const detail = `the batch was started with profile "${profile}" at ${base_url}`;
  if (profileName !== profile)
    throw usageError('--profile contradicts the ledger', `use \`--profile ${quoteShellArg(profile)}\``, detail);
  if (values.base_url === base_url) return;
  const now = `${detail}; the profile is at ${storedBaseUrl ?? 'no server'} now`;
  if (storedBaseUrl === undefined || storedBaseUrl === base_url) {
    const given = reference.replacedBy?.includes('CLOUDCTL_BASE_URL') === true ? 'CLOUDCTL_BASE_URL' : '--base-url';
    throw usageError(`${given} contradicts the ledger`, `use \`--base-url ${quoteShellArg(base_url)}\``, detail);
  }
  // Each start of a sandbox is another server: nothing that would lead back to the earlier one works.
  if (URL.canParse(base_url) && isLoopbackHost(new URL(base_url).hostname)) {
    throw usageError('the ledger is of another server', left(), `${now}; each start of a sandbox is another server`);
  }
  // A session is sent only to the servers of its profile, so an option alone would not help.
  const change = ['cloudctl config set base_url', quoteShellArg(base_url), ...profileWords(reference)].join(' ');
  throw usageError('the ledger is of another server', `correct the profile: \`${change}\``, now);
}

/** The hint that needs no server. */
export function offlineHint(path: string): string {
  return `see what the ledger says with \`cloudctl droplets batches show ${quoteShellArg(path)} --offline\``;
}

interface AccountCheck {
  readonly api: ApiClient;
  readonly state: BatchState;
  /** The account that would continue the batch. */
  readonly current: ActorIdentity;
  /** The command that logs in as the account that started the batch. */
  readonly loginHint: string;
  readonly loginHints: RefusedHints;
  /** How to create the droplets when nothing proves that the ledger belongs to the account; undefined for other commands. */
  readonly newBatchHint?: string | undefined;
}

/**
 * Checks that a resumed batch continues in the account that started it, because lookups in another account would find no
 * droplet of the batch and all names would be created again. If one of the two accounts is not known, the check succeeds when a
 * droplet in the ledger can be read, which needs no other endpoint. Throws `needs_login` if the check fails.
 */
export async function requireSameAccount(proof: AccountCheck): Promise<void> {
  const { api, state, current } = proof;
  const recorded = accountOf(state.batch);
  const comparison = compareIdentities(recorded, current);
  if (comparison === 'different') throw otherIdentityError(proof, recorded);
  if (comparison === 'same' || !wasAnythingSent(state)) return;
  const ids = recentIds(state);
  for (const id of ids) {
    const response = await api.request({ method: 'GET', path: `/v2/droplets/${id}` });
    if (response.status >= 200 && response.status < 300) return;
    // Status 404 and 403 mean that this account has no such droplet. An error of the server says nothing about the droplet.
    if (response.status !== 404 && response.status !== 403)
      throw toApiError(response, 'GET', '/v2/droplets/ID', proof.loginHints);
  }
  throw unprovenError(proof, recorded, ids.length);
}

function unprovenError(
  { current, loginHint, newBatchHint }: AccountCheck,
  recorded: ActorIdentity,
  ids: number,
): CliError {
  const read = ids === 0 ? 'the ledger has no droplet that could prove it' : 'no droplet of the ledger could be read';
  const otherwise = newBatchHint === undefined ? '' : `; if the droplets were deleted, ${newBatchHint}`;
  return new CliError('needs_login', 'could not verify that the ledger belongs to this account', {
    detail: `the batch was started by ${describeIdentity(recorded)}; this command acts as ${describeIdentity(current)}; ${read}`,
    hint: ids === 0 ? (newBatchHint ?? loginHint) : `${loginHint}${otherwise}`,
  });
}

function otherIdentityError({ current, loginHint }: AccountCheck, recorded: ActorIdentity): CliError {
  return new CliError('needs_login', 'the ledger belongs to another account or team', {
    detail: `the batch was started by ${describeIdentity(recorded)}; this command acts as ${describeIdentity(current)}`,
    hint: loginHint,
  });
}

function wasAnythingSent(state: BatchState): boolean {
  const { created, unknown } = state.counts();
  /**
   * Recording a baseline already reads droplets of the account that started the batch, so the account must not change
   * afterwards.
   */
  const hasBegun = state.baseline() !== undefined;
  return hasBegun || created + unknown + state.uncertainGroups().length > 0;
}

/**
 * The droplets of the ledger that are read: the newest first, because new droplets are the least likely to be deleted, then
 * those that were skipped.
 */
function recentIds(state: BatchState): readonly string[] {
  const rows = [...state.rows()].toReversed();
  const idsOf = (status: 'created' | 'skipped') =>
    rows.flatMap((row) => (row.status === status && row.id !== undefined ? [row.id] : []));
  return [...idsOf('created'), ...idsOf('skipped')].slice(0, maxReadIds);
}

const maxReadIds = 10;
