import { isRecord, type JsonRecord, numberOf, textOf } from '../json.ts';
import type { Api } from './client.ts';
import { listAll } from './pages.ts';

/** An action as the API sent it, with the fields we rely on. */
export interface Action {
  readonly id: number;
  readonly status: string;
  readonly type: string;
  readonly raw: JsonRecord;
}

export function listActions(api: Api, pageSize: number): AsyncGenerator<Action> {
  return listAll(api, {
    path: '/v2/actions',
    key: 'actions',
    decode: decodeAction,
    idOf: (action) => action.id,
    pageSize,
  });
}

function decodeAction(json: unknown): Action | undefined {
  if (!isRecord(json)) return undefined;
  const id = numberOf(json, 'id');
  const status = textOf(json, 'status');
  const type = textOf(json, 'type');
  return id === undefined || status === undefined || type === undefined ? undefined : { id, status, type, raw: json };
}
