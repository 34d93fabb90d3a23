import { CliError } from '../base/errors.ts';
import { isJsonRecord, type JsonRecord, readId, readStringField } from '../base/json.ts';
import type { ApiClient } from './client.ts';
import { type ListOptions, type ListRequest, readList } from './list.ts';
import { createRateLimitWaitFunction, type DelayFunction } from './rate-limit-wait.ts';

/** An action (a task of the service on a resource) as the API returned it, with the decoded fields that this program uses. */
export interface ApiAction {
  readonly id: string;
  readonly status: string;
  readonly type: string;
  readonly raw: JsonRecord;
}

/** Lists actions, page by page. */
export function listAllActions(
  api: ApiClient,
  options: ListOptions<ApiAction> = {},
): AsyncGenerator<readonly ApiAction[]> {
  const list: ListRequest<ApiAction> = {
    path: '/v2/actions',
    key: 'actions',
    decode: decodeAction,
    idOf: ({ id }) => id,
    createdAt: ({ raw }) => readStringField(raw, 'started_at'),
  };
  return readList(api, list, options);
}

/** Reads one action by its id; `pause` waits when the rate limit is reached. Throws `not_found`. */
export async function fetchActionById(
  api: ApiClient,
  id: string,
  { pause, signal }: { readonly pause?: DelayFunction; readonly signal?: AbortSignal },
): Promise<ApiAction> {
  const path = `/v2/actions/${id}`;
  const json = await api.json({
    method: 'GET',
    path,
    until: signal,
    rateLimitRetry: createRateLimitWaitFunction(pause),
  });
  const action = isJsonRecord(json) ? decodeAction(json.action) : undefined;
  if (action?.id === id) return action;
  throw new CliError('api_error', `could not parse the response of GET ${path}: it is not action ${id}`, {
    hint: 'check base_url with `cloudctl config list`',
  });
}

function decodeAction(json: unknown): ApiAction | undefined {
  if (!isJsonRecord(json)) return undefined;
  const id = readId(json.id);
  const status = readStringField(json, 'status');
  const type = readStringField(json, 'type');
  return id === undefined || status === undefined || type === undefined ? undefined : { id, status, type, raw: json };
}
