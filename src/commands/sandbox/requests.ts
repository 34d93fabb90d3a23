import type { ListView } from '../../cli/columns.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { wholeNumber } from '../../cli/number.ts';
import type { Context } from '../../context.ts';
import { isRecord, type JsonRecord, numberOf, textOf } from '../../json.ts';

const view: ListView<JsonRecord> = {
  columns: [
    { name: 'At', value: (row) => textOf(row, 'at') },
    { name: 'Method', value: (row) => textOf(row, 'method') },
    { name: 'Path', value: (row) => textOf(row, 'path') },
    { name: 'Status', value: (row) => numberOf(row, 'status') },
    { name: 'ClientID', value: (row) => textOf(row, 'client_id') },
    { name: 'GrantType', value: (row) => textOf(row, 'grant_type') },
    { name: 'TokenHint', value: (row) => textOf(row, 'token_hint') },
    { name: 'Fault', value: (row) => textOf(row, 'fault') },
    { name: 'Committed', value: (row) => truthOf(row, 'committed') },
    { name: 'Delivered', value: (row) => truthOf(row, 'delivered') },
  ],
};

export const requests: CommandSpec<Context> = {
  summary: 'list the requests the sandbox answered',
  description:
    'Every request with its secrets left out, oldest first. The end of a token is enough to tell two apart. One that met a fault says whether it was carried out and whether its answer was delivered; its status is 0 when there was none.',
  options: [
    {
      name: 'endpoint',
      value: '"METHOD PATH"',
      description: 'only those of one endpoint, as in "POST /v1/oauth/token"',
    },
    { name: 'wait', value: 'N', description: 'answer when there are at least so many, 30 s at most' },
    { name: 'clear', description: 'forget them all; prints nothing' },
    { name: 'admin-url', value: 'URL', description: 'the sandbox to talk to, instead of the one started last' },
  ],
  examples: [
    {
      text: 'How often was a token renewed?',
      command:
        "cloudctl sandbox requests --endpoint 'POST /v1/oauth/token' --query \"length([?grant_type=='refresh_token'])\" -o json",
    },
  ],
  run: async (context, words) => {
    const admin = await context.sandbox(words.text('admin-url'));
    if (words.flag('clear')) {
      await admin.call('DELETE', '/requests');
      return 0;
    }
    const query = new URLSearchParams();
    const endpoint = words.text('endpoint');
    const wait = words.text('wait');
    if (endpoint !== undefined) query.set('endpoint', endpoint);
    if (wait !== undefined) query.set('wait', String(wholeNumber(wait, '--wait', { min: 1, max: 99_999 })));
    const answer = await admin.call('GET', `/requests?${query}`);
    const list = isRecord(answer) && Array.isArray(answer.requests) ? answer.requests.filter(isRecord) : [];
    await context.output.list(list, view);
    return 0;
  },
};

function truthOf(row: JsonRecord, name: string): boolean | undefined {
  const value = row[name];
  return typeof value === 'boolean' ? value : undefined;
}
