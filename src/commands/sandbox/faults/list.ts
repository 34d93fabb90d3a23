import { isJsonRecord, type JsonRecord, readNumberField, readStringField } from '../../../base/json.ts';
import type { ListView } from '../../../cli/columns.ts';
import type { CommandSpec } from '../../../cli/command.ts';
import { adminUrlOption } from '../../../config/sandboxes.ts';
import type { CommandContext } from '../../../context.ts';

export const faultView: ListView<JsonRecord> = {
  columns: [
    { name: 'ID', value: (row) => readNumberField(row, 'id') },
    { name: 'Match', value: matchText },
    { name: 'Action', value: (row) => readStringField(row, 'action') },
    { name: 'Nth', priority: 3, value: (row) => readNumberField(row, 'nth') },
    { name: 'Times', priority: 2, value: (row) => readNumberField(row, 'times') },
    { name: 'DelayMs', priority: 1, value: (row) => readNumberField(row, 'delay') },
    { name: 'Status', value: (row) => readNumberField(row, 'status') },
    { name: 'Matched', value: (row) => readNumberField(row, 'matched') },
    { name: 'Applied', value: (row) => readNumberField(row, 'applied') },
    { name: 'Remaining', value: (row) => readNumberField(row, 'remaining') },
  ],
};

export const faultFields = [
  'id',
  'match',
  'action',
  'nth',
  'times',
  'delay',
  'status',
  'matched',
  'applied',
  'remaining',
];

export const faultsList: CommandSpec<CommandContext> = {
  description:
    'Prints for each fault how many requests matched, how often it applied and how often it will still apply.',
  options: [adminUrlOption],
  examples: [{ text: 'Check whether a fault has applied', command: 'cloudctl sandbox faults list' }],
  columns: faultView.columns,
  fields: faultFields,
  run: async (context, args) => {
    const admin = await context.sandbox(args.value('admin-url'));
    const answer = await admin.call('GET', '/faults');
    const faults = isJsonRecord(answer) && Array.isArray(answer.faults) ? answer.faults.filter(isJsonRecord) : [];
    await context.output.list(faults, faultView);
    return 0;
  },
};

function matchText({ match }: JsonRecord): string {
  if (!isJsonRecord(match)) return '';
  return ['method', 'path', 'grant_type'].flatMap((name) => readStringField(match, name) ?? []).join(' ');
}
