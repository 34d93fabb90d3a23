import { isJsonRecord, type JsonRecord, readNumberField, readStringField } from '../../base/json.ts';
import type { ListView } from '../../cli/columns.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { requireInteger } from '../../cli/values.ts';
import { adminUrlOption } from '../../config/sandboxes.ts';
import type { CommandContext } from '../../context.ts';

const view: ListView<JsonRecord> = {
  columns: [
    { name: 'At', value: (row) => readStringField(row, 'at'), kind: 'time' },
    { name: 'Method', value: (row) => readStringField(row, 'method') },
    { name: 'Path', value: (row) => readStringField(row, 'path') },
    { name: 'Status', value: (row) => readNumberField(row, 'status') },
    { name: 'ClientID', value: (row) => readStringField(row, 'client_id'), priority: 4 },
    { name: 'GrantType', value: (row) => readStringField(row, 'grant_type'), priority: 2 },
    { name: 'TokenHint', value: (row) => readStringField(row, 'token_hint'), priority: 3 },
    { name: 'Fault', value: (row) => readStringField(row, 'fault'), priority: 1 },
    { name: 'Committed', value: (row) => booleanField(row, 'committed'), priority: 5 },
    { name: 'Delivered', value: (row) => booleanField(row, 'delivered'), priority: 6 },
  ],
};

export const sandboxRequests: CommandSpec<CommandContext> = {
  description:
    'Prints every request without its secrets, oldest first. Tokens are shown by their last characters. A request with a fault shows whether it was committed and whether its response was delivered; its status is 0 if there was no response.',
  options: [
    {
      name: 'endpoint',
      valueName: '"METHOD PATH"',
      description: 'only requests to one endpoint, such as "POST /v1/oauth/token"',
      completion: ['POST /v1/oauth/token', 'GET /v2/droplets', 'POST /v2/droplets', 'GET /v2/actions'],
    },
    { name: 'wait', valueName: 'N', description: 'wait up to 30 s until there are at least N requests' },
    { name: 'clear', description: 'clear the request log and print nothing' },
    adminUrlOption,
  ],
  examples: [
    {
      text: 'Count the token refreshes',
      command:
        "cloudctl sandbox requests --endpoint 'POST /v1/oauth/token' --query \"length([?grant_type=='refresh_token'])\" -o json",
    },
  ],
  columns: view.columns,
  fields: [
    'at',
    'method',
    'path',
    'status',
    'client_id',
    'grant_type',
    'token_hint',
    'fault',
    'committed',
    'delivered',
  ],
  run: async (context, args) => {
    const admin = await context.sandbox(args.value('admin-url'));
    if (args.has('clear')) {
      await admin.call('DELETE', '/requests');
      return 0;
    }
    const query = new URLSearchParams();
    const endpoint = args.value('endpoint');
    const wait = args.value('wait');
    if (endpoint !== undefined) query.set('endpoint', endpoint);
    if (wait !== undefined) query.set('wait', String(requireInteger(wait, '--wait', { min: 1, max: 99_999 })));
    const answer = await admin.call('GET', `/requests?${query}`);
    const list = isJsonRecord(answer) && Array.isArray(answer.requests) ? answer.requests.filter(isJsonRecord) : [];
    await context.output.list(list, view);
    return 0;
  },
};

function booleanField(row: JsonRecord, name: string): boolean | undefined {
  const value = row[name];
  return typeof value === 'boolean' ? value : undefined;
}
