import { isRecord, type JsonRecord, numberOf, textOf } from '../json.ts';
import type { Api } from './client.ts';
import { listPages, type Portion, type Wish } from './pages.ts';
import { idOf } from './survey.ts';

/** An action as the API sent it, with the fields we rely on. */
export interface Action {
  readonly id: number;
  readonly status: string;
  readonly type: string;
  readonly raw: JsonRecord;
}

/** Actions, a page at a time. */
export function listActions(api: Api, wish: Wish<Action> = {}): AsyncGenerator<Portion<Action>> {
  return listPages(api, {
    path: '/v2/actions',
    key: 'actions',
    members: ['id', 'status', 'type', 'started_at'],
    decode: decodeAction,
    idOf,
    bornAt: ({ raw }) => textOf(raw, 'started_at'),
    wish,
  });
}

function decodeAction(json: unknown): Action | undefined {
  if (!isRecord(json)) return undefined;
  const id = numberOf(json, 'id');
  const status = textOf(json, 'status');
  const type = textOf(json, 'type');
  return id === undefined || status === undefined || type === undefined ? undefined : { id, status, type, raw: json };
}
