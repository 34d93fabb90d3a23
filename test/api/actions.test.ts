import { expect, it } from 'vitest';
import { type ApiAction, listAllActions } from '../../src/api/actions.ts';
import { apiAnswering } from './changing-list.ts';

async function all(actions: readonly unknown[]): Promise<readonly ApiAction[]> {
  const list: ApiAction[] = [];
  const api = apiAnswering(() => ({ actions, meta: { total: actions.length } }));
  for await (const page of listAllActions(api)) list.push(...page);
  return list;
}

it('an action keeps what the API sent', async () => {
  const json = { id: 1, status: 'in-progress', type: 'create', completed_at: null };
  expect(await all([json])).toEqual([{ id: '1', status: 'in-progress', type: 'create', raw: json }]);
});

it.each([{ id: '01', status: 's', type: 't' }, { id: 1, type: 't' }, { id: 1, status: 's' }, null, 7])(
  '%j is no action, and the list is not understood',
  async (json) => {
    await expect(all([json])).rejects.toMatchObject({ code: 'api_error' });
  },
);
