import type { CommandSpec, ParsedArgs } from '../../../cli/command.ts';
import { requireDuration } from '../../../cli/duration.ts';
import { printableInput } from '../../../cli/sanitize.ts';
import { requireWholeNumber } from '../../../cli/whole-number.ts';
import type { Context } from '../../../context.ts';
import { CliError, usageError } from '../../../errors.ts';
import { isRecord } from '../../../json.ts';
import { FAULT_ACTION_NAMES } from '../../../sandbox/faults/fault.ts';
import { faultView } from './list.ts';

export const sandboxFaultsAddCommand: CommandSpec<Context> = {
  description:
    'From the nth request that fits on, for so many of them, the sandbox does not behave: it cuts the connection before or after the commit, answers too late, half, byte by byte or not in JSON. Of several faults the first that is due applies. `sandbox requests` tells of each such request whether it was carried out and whether its answer was delivered. The admin API itself meets no fault.',
  options: [
    {
      name: 'match',
      valueName: '"METHOD PATH"',
      description:
        'the requests it is for, as in "POST /v2/droplets"; the method may be left out, and a path may end in * or be written as the route is, as in "GET /v2/droplets/{id}"',
    },
    {
      name: 'grant-type',
      valueName: 'TYPE',
      description: 'only token requests of this grant type, as in refresh_token',
    },
    { name: 'action', valueName: 'ACTION', description: 'what happens to them', choices: FAULT_ACTION_NAMES },
    { name: 'nth', valueName: 'N', description: 'the first request that fits to meet it (1)' },
    { name: 'times', valueName: 'N', description: 'how many requests meet it (1)' },
    {
      name: 'delay',
      valueName: 'DURATION',
      description: 'real time before the answer, as in 2s or 500ms; between two bytes of a slow_drip (10ms)',
    },
    { name: 'status', valueName: 'STATUS', description: 'of the action status, 200 to 599 (500)' },
    { name: 'admin-url', valueName: 'URL', description: 'the sandbox to talk to, instead of the one started last' },
  ],
  examples: [
    {
      text: 'The third creation is carried out, and nobody hears of it',
      command: 'cloudctl sandbox faults add --match "POST /v2/droplets" --action commit_then_drop --nth 3',
    },
    {
      text: 'The next refresh is lost on its way back',
      command: 'cloudctl sandbox faults add --grant-type refresh_token --action half_body',
    },
  ],
  run: async (context, words) => {
    const fault = readFault(words);
    const admin = await context.sandbox(words.value('admin-url'));
    const answer = await admin.call('POST', '/faults', fault);
    if (!isRecord(answer)) throw new CliError('api_error', 'the sandbox answered without a fault');
    await context.output.object(answer, { columns: faultView.columns });
    return 0;
  },
};

function readFault(words: ParsedArgs): object {
  const action = words.value('action');
  if (action === undefined) throw usageError('--action is missing', 'as in `--action commit_then_drop`');
  const nth = words.value('nth');
  const times = words.value('times');
  const delay = words.value('delay');
  const status = words.value('status');
  if (action === 'delay' && delay === undefined)
    throw usageError('--delay is missing', 'as in `--action delay --delay 2s`');
  if (action !== 'status' && status !== undefined) {
    throw usageError(`--status does not go with --action ${action}`, 'leave it out, or use `--action status`');
  }
  return {
    match: readMatch(words.value('match'), words.value('grant-type')),
    action,
    ...(nth === undefined ? {} : { nth: requireWholeNumber(nth, '--nth', { min: 1 }) }),
    ...(times === undefined ? {} : { times: requireWholeNumber(times, '--times', { min: 1 }) }),
    ...(delay === undefined ? {} : { delay: readDelay(delay) }),
    ...(status === undefined ? {} : { status: requireWholeNumber(status, '--status', { min: 200, max: 599 }) }),
  };
}

function readMatch(match: string | undefined, grantType: string | undefined): object {
  const [, method, path] = /^(?:([A-Z]{1,20}) )?(\/[^\s?#*]*\*?|\*)$/.exec(match ?? '') ?? [];
  if (match !== undefined && path === undefined) {
    const hint = 'write it as in `--match "POST /v2/droplets"`, without a query';
    throw usageError(`--match is no method and path: "${printableInput(match)}"`, hint);
  }
  if (grantType !== undefined && !/^\S{1,100}$/.test(grantType)) {
    throw usageError(
      `--grant-type is no grant type: "${printableInput(grantType)}"`,
      'as in `--grant-type refresh_token`',
    );
  }
  if (path === undefined && grantType === undefined) {
    throw usageError('--match is missing', 'as in `--match "POST /v2/droplets"`; `--match "*"` is every request');
  }
  return {
    ...(method === undefined ? {} : { method }),
    ...(path === undefined ? {} : { path }),
    ...(grantType === undefined ? {} : { grant_type: grantType }),
  };
}

/** Shorter than a second is worth having here, unlike everywhere else. */
function readDelay(text: string): number {
  const [, ms] = /^(\d{1,6})ms$/.exec(text) ?? [];
  const delay = ms === undefined ? requireDuration(text, '--delay') : Number(ms);
  if (delay > LONGEST_MS) throw usageError(`--delay is too long: "${printableInput(text)}"`, 'give it 10m at most');
  return delay;
}

const LONGEST_MS = 600_000;
