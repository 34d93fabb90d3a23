import { usageError } from '../../base/errors.ts';
import { isJsonRecord, readStringField } from '../../base/json.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { shortenInput } from '../../cli/values.ts';
import { adminUrlOption } from '../../config/sandboxes.ts';
import type { CommandContext } from '../../context.ts';

interface ClockReading {
  readonly now: string;
  readonly frozen: boolean;
}

export const sandboxClock: CommandSpec<CommandContext> = {
  description:
    'Every time of the sandbox comes from one virtual clock: the expiry of tokens and codes, the creation of droplets. The virtual clock only moves forward.',
  arguments: [
    {
      name: 'STEP',
      description: 'duration to advance, such as +10m or +30d; freeze, resume or now (default: now)',
      completion: ['now', 'freeze', 'resume', '+10m', '+30d'],
      meantCommand,
    },
  ],
  options: [adminUrlOption],
  examples: [
    { text: 'Expire every access token', command: 'cloudctl sandbox clock +30d' },
    { text: 'Freeze the clock', command: 'cloudctl sandbox clock freeze' },
  ],
  fields: ['now', 'frozen'],
  run: async (context, args) => {
    const [step = 'now'] = args.positionals;
    const change = clockChange(step);
    const admin = await context.sandbox(args.value('admin-url'));
    const answer =
      change === undefined ? await admin.call('GET', '/clock') : await admin.call('POST', '/clock', change);
    const time: ClockReading = {
      now: (isJsonRecord(answer) ? readStringField(answer, 'now') : undefined) ?? '',
      frozen: isJsonRecord(answer) && answer.frozen === true,
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
  const meant = meantCommand([step]);
  throw usageError(
    `unknown STEP "${shortenInput(step)}"`,
    meant === undefined
      ? 'advance the clock as in `cloudctl sandbox clock +10m`, or pass freeze, resume or now'
      : `advance the clock with \`${meant}\``,
  );
}

/** The command for words such as `31d`, `advance 31d` or `advance 31 days`; undefined if they end with no duration. */
function meantCommand(words: readonly string[]): string | undefined {
  const unit = 's(?:ec(?:onds?)?)?|m(?:in(?:utes?)?)?|h(?:ours?)?|d(?:ays?)?';
  const [, amount, named] = new RegExp(`^[a-z]*\\+?(\\d{1,9})(${unit})$`, 'i').exec(words.join('')) ?? [];
  return amount === undefined || named === undefined
    ? undefined
    : `cloudctl sandbox clock +${amount}${named.charAt(0).toLowerCase()}`;
}
