import type { CommandSpec } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { isRecord, stringField } from '../../json.ts';

interface ClockReading {
  readonly now: string;
  readonly frozen: boolean;
}

export const sandboxClockCommand: CommandSpec<Context> = {
  description:
    'All time of the sandbox comes from one clock: tokens expire, codes die and droplets become active by it. It moves forward only.',
  arguments: [{ name: 'STEP', description: '+10m, +30d and the like; freeze, resume or now (now)' }],
  options: [
    { name: 'admin-url', valueName: 'URL', description: 'the sandbox to talk to, instead of the one started last' },
  ],
  examples: [
    { text: 'Let every access token expire', command: 'cloudctl sandbox clock +30d' },
    { text: 'Stop time', command: 'cloudctl sandbox clock freeze' },
  ],
  run: async (context, words) => {
    const [step = 'now'] = words.positionals;
    const change = clockChange(step);
    const admin = await context.sandbox(words.value('admin-url'));
    const answer =
      change === undefined ? await admin.call('GET', '/clock') : await admin.call('POST', '/clock', change);
    const time: ClockReading = {
      now: (isRecord(answer) ? stringField(answer, 'now') : undefined) ?? '',
      frozen: isRecord(answer) && answer.frozen === true,
    };
    if (context.output.format === 'table') await context.output.text(`${time.now}${time.frozen ? ' (frozen)' : ''}`);
    else
      await context.output.object(time, {
        columns: [
          { name: 'Now', value: (row) => row.now },
          { name: 'Frozen', value: (row) => row.frozen },
        ],
      });
    return 0;
  },
};

function clockChange(step: string): object | undefined {
  if (step === 'now') return undefined;
  if (step === 'freeze') return { freeze: true };
  if (step === 'resume') return { resume: true };
  if (/^\+\d{1,9}[smhd]$/.test(step)) return { advance: step };
  throw usageError('STEP is no step of the clock', 'use `cloudctl sandbox clock +10m`, freeze, resume or now');
}
