import { type AccountContext, personalContext } from '../identity.ts';
import { isRecord, parseJson, stringField } from '../json.ts';
import { type ApiResponse, type LoginHints, toApiError } from './api-response.ts';
import type { Api } from './client.ts';

const path = '/v2/account';

/**
 * The account of the access token, by `GET /v2/account`. spec.md does not list it, so a server may have none; the result is
 * then empty. `team: null` is the personal context; without the member the context is not known.
 */
export async function readAccountContext(api: Api, loginHints: LoginHints): Promise<AccountContext> {
  const response = await api.request({ method: 'GET', path });
  if (missingStatuses.has(response.status)) return {};
  if (response.status < 200 || response.status >= 300) throw toApiError(response, 'GET', path, loginHints);
  return decodeAccountContext(response);
}

/** No such endpoint, or none for this token. */
const missingStatuses: ReadonlySet<number> = new Set([400, 403, 404, 405, 410, 421, 501]);

function decodeAccountContext(response: Pick<ApiResponse, 'text'>): AccountContext {
  const json = parseJson(response.text());
  const account = json.ok && isRecord(json.value) ? json.value.account : undefined;
  if (!isRecord(account)) return {};
  const accountUuid = stringField(account, 'uuid');
  const team = isRecord(account.team)
    ? stringField(account.team, 'uuid')
    : account.team === null
      ? personalContext
      : undefined;
  return { ...(accountUuid === undefined ? {} : { accountUuid }), ...(team === undefined ? {} : { team }) };
}
