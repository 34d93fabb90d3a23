import { type RefusedRequestHints, toApiError } from '../api/api-response.ts';
import type { ApiClient } from '../api/client.ts';
import { CliError } from '../base/errors.ts';
import {
  type AccountAndServerOrigins,
  compareAccountsAndServerOrigins,
  describeAccountAndServerOrigins,
} from '../base/identity.ts';
import type { Batch } from './events.ts';
import type { BatchState } from './state.ts';

/** The members in a ledger's first line that identify the account that started the batch. */
export function accountFields({ authOrigin, clientId, accountUuid, team }: AccountAndServerOrigins): Partial<Batch> {
  const fields = { account: accountUuid, team, auth_url: authOrigin, client_id: clientId };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

export function accountOf({ account, team, auth_url, base_url, client_id }: Batch): AccountAndServerOrigins {
  return { accountUuid: account, team, authOrigin: auth_url, baseOrigin: base_url, clientId: client_id };
}

interface AccountCheck {
  readonly api: ApiClient;
  readonly state: BatchState;
  /** The account that would continue the batch. */
  readonly current: AccountAndServerOrigins;
  /** The command that logs in as the account that started the batch. */
  readonly loginHint: string;
  readonly loginHints: RefusedRequestHints;
  /** True with `--skip-account-check`: only a known difference between the accounts stops the batch. */
  readonly isSkipped: boolean;
}

/**
 * Checks that a resumed batch continues in the account that started it, because lookups in another account would find no
 * droplet of the batch and all names would be created again. If one of the two accounts is not known, the check succeeds when a
 * droplet in the ledger can be read. Throws `needs_login` if the check fails.
 */
export async function requireSameAccount(proof: AccountCheck): Promise<void> {
  const { api, state, current, isSkipped } = proof;
  const recorded = accountOf(state.batch);
  const comparison = compareAccountsAndServerOrigins(recorded, current);
  if (comparison === 'different') throw otherIdentityError(proof, recorded);
  if (comparison === 'same' || isSkipped || !wasAnythingSent(state)) return;
  for (const id of recentIds(state)) {
    const response = await api.request({ method: 'GET', path: `/v2/droplets/${id}` });
    if (response.status >= 200 && response.status < 300) return;
    // Status 404 and 403 mean that this account has no such droplet. An error of the server says nothing about the droplet.
    if (response.status !== 404 && response.status !== 403)
      throw toApiError(response, 'GET', '/v2/droplets/ID', proof.loginHints);
  }
  throw new CliError('needs_login', 'could not verify that the ledger belongs to this account', {
    detail: `the batch was started by ${describeAccountAndServerOrigins(recorded)}; this command acts as ${describeAccountAndServerOrigins(current)}; no droplet of the ledger could be read`,
    hint: 'with another account all names would be created again; if the account is the same, add `--skip-account-check`',
  });
}

function otherIdentityError({ current, loginHint }: AccountCheck, recorded: AccountAndServerOrigins): CliError {
  return new CliError('needs_login', 'the ledger belongs to another account or team', {
    detail: `the batch was started by ${describeAccountAndServerOrigins(recorded)}; this command acts as ${describeAccountAndServerOrigins(current)}`,
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

/** The newest droplet ids of the ledger are read, because new droplets are the least likely to be deleted. */
function recentIds(state: BatchState): readonly string[] {
  const ids: string[] = [];
  for (let at = state.batch.names.length - 1; at >= 0 && ids.length < maxReadIds; at--) {
    const row = state.rowAt(at);
    if (row.status === 'created') ids.push(row.id);
  }
  return ids;
}

const maxReadIds = 3;
