import type { ListView } from '../../cli/columns.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { requireWholeNumber } from '../../cli/whole-number.ts';
import type { Context } from '../../context.ts';
import { isRecord, type JsonRecord, numberField, stringField } from '../../json.ts';

const view: ListView<JsonRecord> = {
  columns: [
    { name: 'At', value: (row) => stringField(row, 'at') },
    { name: 'Method', value: (row) => stringField(row, 'method') },
    { name: 'Path', value: (row) => stringField(row, 'path') },
    { name: 'Status', value: (row) => numberField(row, 'status') },
    { name: 'ClientID', value: (row) => stringField(row, 'client_id') },
    { name: 'GrantType', value: (row) => stringField(row, 'grant_type') },
    { name: 'TokenHint', value: (row) => stringField(row, 'token_hint') },
    { name: 'Fault', value: (row) => stringField(row, 'fault') },
    { name: 'Committed', value: (row) => booleanField(row, 'committed') },
    { name: 'Delivered', value: (row) => booleanField(row, 'delivered') },
  ],
};

export const sandboxRequestsCommand: CommandSpec<Context> = {
  description:
    'Every request with its secrets left out, oldest first. The end of a token is enough to tell two apart. One that met a fault says whether it was carried out and whether its answer was delivered; its status is 0 when there was none.',
  options: [
    {
      name: 'endpoint',
      valueName: '"METHOD PATH"',
      description: 'only those of one endpoint, as in "POST /v1/oauth/token"',
    },
    { name: 'wait', valueName: 'N', description: 'answer when there are at least so many, 30 s at most' },
    { name: 'clear', description: 'forget them all; prints nothing' },
    { name: 'admin-url', valueName: 'URL', description: 'the sandbox to talk to, instead of the one started last' },
  ],
  examples: [
    {
      text: 'How often was a token renewed?',
      command:
        "cloudctl sandbox requests --endpoint 'POST /v1/oauth/token' --query \"length([?grant_type=='refresh_token'])\" -o json",
    },
  ],
  run: async (context, words) => {
    const admin = await context.sandbox(words.value('admin-url'));
    if (words.has('clear')) {
      await admin.call('DELETE', '/requests');
      return 0;
    }
    const query = new URLSearchParams();
    const endpoint = words.value('endpoint');
    const wait = words.value('wait');
    if (endpoint !== undefined) query.set('endpoint', endpoint);
    if (wait !== undefined) query.set('wait', String(requireWholeNumber(wait, '--wait', { min: 1, max: 99_999 })));
    const answer = await admin.call('GET', `/requests?${query}`);
    const list = isRecord(answer) && Array.isArray(answer.requests) ? answer.requests.filter(isRecord) : [];
    await context.output.list(list, view);
    return 0;
  },
};

function booleanField(row: JsonRecord, name: string): boolean | undefined {
  const value = row[name];
  return typeof value === 'boolean' ? value : undefined;
}
