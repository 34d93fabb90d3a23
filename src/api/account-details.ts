import { personalTeam, type TeamAccount } from '../base/identity.ts';
import { isJsonRecord, readStringField, tryParseJson } from '../base/json.ts';
import { type ApiResponse, type RefusedHints, toApiError } from './api-response.ts';
import type { ApiClient } from './client.ts';
import type { LimitWait } from './waits.ts';

/** An account with the names of the account and its team for display. */
export interface AccountDetails extends TeamAccount {
  readonly name?: string;
  readonly email?: string;
  readonly teamName?: string;
}

const path = '/v2/account';

/** The path of a collection that always exists and that every scope may read (docs/service.md S7.2). */
const collectionPath = '/v2/actions?page=1&per_page=1';

/**
 * Reads which account owns the access token, as far as the server reveals it. Throws `token_refused` if the server does not
 * accept the token.
 */
export async function fetchTokenAccount(api: ApiClient, loginHints: RefusedHints): Promise<AccountDetails> {
  const account = await fetchAccount(api, loginHints);
  if (account.accountUuid === undefined) await api.json({ method: 'GET', path: collectionPath });
  return account;
}

/**
 * Reads the account of the access token with `GET /v2/account`. docs/service.md does not list this endpoint, so a server may
 * not have it; if the endpoint is missing, the result is empty. `team: null` means the personal context; without the member
 * `team` the context is unknown.
 */
export async function fetchAccount(
  api: ApiClient,
  loginHints: RefusedHints,
  rateLimitRetry?: LimitWait,
): Promise<AccountDetails> {
  let response = await api.request({ method: 'GET', path });
  while (response.status === 429 && (await rateLimitRetry?.(response)) === true)
    response = await api.request({ method: 'GET', path });
  if (missingStatuses.has(response.status)) return {};
  if (response.status < 200 || response.status >= 300) throw toApiError(response, 'GET', path, loginHints);
  return decodeAccount(response);
}

/** The status codes which show that the server lacks the account endpoint, or that the token may not read it. */
const missingStatuses: ReadonlySet<number> = new Set([400, 403, 404, 405, 410, 421, 501]);

function decodeAccount(response: Pick<ApiResponse, 'text'>): AccountDetails {
  const json = tryParseJson(response.text());
  const account = json.ok && isJsonRecord(json.value) ? json.value.account : undefined;
  if (!isJsonRecord(account)) return {};
  const team = isJsonRecord(account.team) ? account.team : undefined;
  const fields = [
    ['accountUuid', readStringField(account, 'uuid')],
    ['team', team === undefined ? (account.team === null ? personalTeam : undefined) : readStringField(team, 'uuid')],
    ['name', readStringField(account, 'name')],
    ['email', readStringField(account, 'email')],
    ['teamName', team === undefined ? undefined : readStringField(team, 'name')],
  ] as const;
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}
