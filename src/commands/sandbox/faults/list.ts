import type { ListView } from '../../../cli/columns.ts';
import type { CommandSpec } from '../../../cli/command.ts';
import type { Context } from '../../../context.ts';
import { isRecord, type JsonRecord, numberOf, textOf } from '../../../json.ts';

export const faultView: ListView<JsonRecord> = {
  columns: [
    { name: 'ID', value: (row) => numberOf(row, 'id') },
    { name: 'Match', value: matchOf },
    { name: 'Action', value: (row) => textOf(row, 'action') },
    { name: 'Nth', value: (row) => numberOf(row, 'nth') },
    { name: 'Times', value: (row) => numberOf(row, 'times') },
    { name: 'DelayMs', value: (row) => numberOf(row, 'delay') },
    { name: 'Status', value: (row) => numberOf(row, 'status') },
    { name: 'Matched', value: (row) => numberOf(row, 'matched') },
    { name: 'Applied', value: (row) => numberOf(row, 'applied') },
    { name: 'Remaining', value: (row) => numberOf(row, 'remaining') },
  ],
};

export const list: CommandSpec<Context> = {
  summary: 'list the faults that were added',
  description: 'Each with the requests that fitted it so far, how often it applied and how often it still will.',
  options: [
    { name: 'admin-url', value: 'URL', description: 'the sandbox to talk to, instead of the one started last' },
  ],
  examples: [{ text: 'Has it happened yet?', command: 'cloudctl sandbox faults list' }],
  run: async (context, words) => {
    const admin = await context.sandbox(words.text('admin-url'));
    const answer = await admin.call('GET', '/faults');
    const faults = isRecord(answer) && Array.isArray(answer.faults) ? answer.faults.filter(isRecord) : [];
    await context.output.list(faults, faultView);
    return 0;
  },
};

function matchOf({ match }: JsonRecord): string {
  if (!isRecord(match)) return '';
  return ['method', 'path', 'grant_type'].flatMap((name) => textOf(match, name) ?? []).join(' ');
}
