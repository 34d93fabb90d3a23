import { isJsonRecord, type JsonRecord, readId, readStringField } from '../base/json.ts';
import type { ApiClient } from './client.ts';
import { type ListOptions, type ListRequest, type Reader, readItem, readList } from './list.ts';

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

/** Reads one action by its id. Throws `not_found`. */
export function readAction(reader: Reader, id: string): Promise<ApiAction> {
  return readItem(reader, 'action', decodeAction, id);
}

function decodeAction(json: unknown): ApiAction | undefined {
  if (!isJsonRecord(json)) return undefined;
  const id = readId(json.id);
  const status = readStringField(json, 'status');
  const type = readStringField(json, 'type');
  return id === undefined || status === undefined || type === undefined ? undefined : { id, status, type, raw: json };
}
