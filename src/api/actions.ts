import { CliError } from '../errors.ts';
import { isRecord, type JsonRecord, numberField, stringField } from '../json.ts';
import type { Api } from './client.ts';
import { listItemId } from './list-completeness.ts';
import { type ListOptions, listPages, type PageItems } from './list-pages.ts';
import { createRateLimitRetry, type WaitMilliseconds } from './rate-limit-retry.ts';

/** An action (a task of the service on a resource) as the API returned it, with the decoded fields that this program uses. */
export interface Action {
  readonly id: number;
  readonly status: string;
  readonly type: string;
  readonly raw: JsonRecord;
}

/** Lists actions, page by page. */
export function listActions(api: Api, wish: ListOptions<Action> = {}): AsyncGenerator<PageItems<Action>> {
  return listPages(api, {
    path: '/v2/actions',
    key: 'actions',
    members: ['id', 'status', 'type', 'started_at'],
    decode: decodeAction,
    idOf: listItemId,
    createdAt: ({ raw }) => stringField(raw, 'started_at'),
    options: wish,
  });
}

/** Reads one action by its id; `pause` waits when the rate limit is reached. Throws `not_found`. */
export async function fetchAction(
  api: Api,
  id: number,
  { pause, signal }: { readonly pause?: WaitMilliseconds; readonly signal?: AbortSignal },
): Promise<Action> {
  const path = `/v2/actions/${id}`;
  const json = await api.json({ method: 'GET', path, until: signal, rateLimitRetry: createRateLimitRetry(pause) });
  const action = isRecord(json) ? decodeAction(json.action) : undefined;
  if (action?.id === id) return action;
  throw new CliError('api_error', `could not parse the response of GET ${path}: it is not action ${id}`, {
    hint: 'check base_url with `cloudctl config list`',
  });
}

function decodeAction(json: unknown): Action | undefined {
  if (!isRecord(json)) return undefined;
  const id = numberField(json, 'id');
  const status = stringField(json, 'status');
  const type = stringField(json, 'type');
  return id === undefined || status === undefined || type === undefined ? undefined : { id, status, type, raw: json };
}
