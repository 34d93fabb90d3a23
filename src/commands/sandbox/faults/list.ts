import type { ListView } from '../../../cli/columns.ts';
import type { CommandSpec } from '../../../cli/command.ts';
import type { Context } from '../../../context.ts';
import { isRecord, type JsonRecord, numberField, stringField } from '../../../json.ts';

export const faultView: ListView<JsonRecord> = {
  columns: [
    { name: 'ID', value: (row) => numberField(row, 'id') },
    { name: 'Match', value: matchText },
    { name: 'Action', value: (row) => stringField(row, 'action') },
    { name: 'Nth', value: (row) => numberField(row, 'nth') },
    { name: 'Times', value: (row) => numberField(row, 'times') },
    { name: 'DelayMs', value: (row) => numberField(row, 'delay') },
    { name: 'Status', value: (row) => numberField(row, 'status') },
    { name: 'Matched', value: (row) => numberField(row, 'matched') },
    { name: 'Applied', value: (row) => numberField(row, 'applied') },
    { name: 'Remaining', value: (row) => numberField(row, 'remaining') },
  ],
};

export const sandboxFaultsListCommand: CommandSpec<Context> = {
  description:
    'Prints for each fault how many requests matched, how often it applied and how often it will still apply.',
  options: [
    {
      name: 'admin-url',
      valueName: 'URL',
      description: 'admin URL of the sandbox (default: the sandbox that was started last)',
    },
  ],
  examples: [{ text: 'Check whether a fault has applied', command: 'cloudctl sandbox faults list' }],
  run: async (context, args) => {
    const admin = await context.sandbox(args.value('admin-url'));
    const answer = await admin.call('GET', '/faults');
    const faults = isRecord(answer) && Array.isArray(answer.faults) ? answer.faults.filter(isRecord) : [];
    await context.output.list(faults, faultView);
    return 0;
  },
};

function matchText({ match }: JsonRecord): string {
  if (!isRecord(match)) return '';
  return ['method', 'path', 'grant_type'].flatMap((name) => stringField(match, name) ?? []).join(' ');
}
