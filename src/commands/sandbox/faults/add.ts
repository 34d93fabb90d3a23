import type { CommandSpec, Words } from '../../../cli/command.ts';
import { duration } from '../../../cli/duration.ts';
import { wholeNumber } from '../../../cli/number.ts';
import { shown } from '../../../cli/sanitize.ts';
import type { Context } from '../../../context.ts';
import { CliError, usage } from '../../../errors.ts';
import { isRecord } from '../../../json.ts';
import { FAULT_ACTIONS } from '../../../sandbox/faults/fault.ts';
import { faultView } from './list.ts';

export const add: CommandSpec<Context> = {
  summary: 'make requests go wrong',
  description:
    'From the nth request that fits on, for so many of them, the sandbox does not behave: it cuts the connection before or after the commit, answers too late, half, byte by byte or not in JSON. Of several faults the first that is due applies. `sandbox requests` tells of each such request whether it was carried out and whether its answer was delivered. The admin API itself meets no fault.',
  options: [
    {
      name: 'match',
      value: '"METHOD PATH"',
      description:
        'the requests it is for, as in "POST /v2/droplets"; the method may be left out, and a path may end in * or be written as the route is, as in "GET /v2/droplets/{id}"',
    },
    { name: 'grant-type', value: 'TYPE', description: 'only token requests of this grant type, as in refresh_token' },
    { name: 'action', value: 'ACTION', description: 'what happens to them', choices: FAULT_ACTIONS },
    { name: 'nth', value: 'N', description: 'the first request that fits to meet it (1)' },
    { name: 'times', value: 'N', description: 'how many requests meet it (1)' },
    {
      name: 'delay',
      value: 'DURATION',
      description: 'real time before the answer, as in 2s or 500ms; between two bytes of a slow_drip (10ms)',
    },
    { name: 'status', value: 'STATUS', description: 'of the action status, 200 to 599 (500)' },
    { name: 'admin-url', value: 'URL', description: 'the sandbox to talk to, instead of the one started last' },
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
    const admin = await context.sandbox(words.text('admin-url'));
    const answer = await admin.call('POST', '/faults', fault);
    if (!isRecord(answer)) throw new CliError('api_error', 'the sandbox answered without a fault');
    await context.output.object(answer, { columns: faultView.columns });
    return 0;
  },
};

function readFault(words: Words): object {
  const action = words.text('action');
  if (action === undefined) throw usage('--action is missing', 'as in `--action commit_then_drop`');
  const nth = words.text('nth');
  const times = words.text('times');
  const delay = words.text('delay');
  const status = words.text('status');
  if (action === 'delay' && delay === undefined) throw usage('--delay is missing', 'as in `--action delay --delay 2s`');
  if (action !== 'status' && status !== undefined) {
    throw usage(`--status does not go with --action ${action}`, 'leave it out, or use `--action status`');
  }
  return {
    match: readMatch(words.text('match'), words.text('grant-type')),
    action,
    ...(nth === undefined ? {} : { nth: wholeNumber(nth, '--nth', { min: 1 }) }),
    ...(times === undefined ? {} : { times: wholeNumber(times, '--times', { min: 1 }) }),
    ...(delay === undefined ? {} : { delay: readDelay(delay) }),
    ...(status === undefined ? {} : { status: wholeNumber(status, '--status', { min: 200, max: 599 }) }),
  };
}

function readMatch(match: string | undefined, grantType: string | undefined): object {
  const [, method, path] = /^(?:([A-Z]{1,20}) )?(\/[^\s?#*]*\*?|\*)$/.exec(match ?? '') ?? [];
  if (match !== undefined && path === undefined) {
    const hint = 'write it as in `--match "POST /v2/droplets"`, without a query';
    throw usage(`--match is no method and path: "${shown(match)}"`, hint);
  }
  if (grantType !== undefined && !/^\S{1,100}$/.test(grantType)) {
    throw usage(`--grant-type is no grant type: "${shown(grantType)}"`, 'as in `--grant-type refresh_token`');
  }
  if (path === undefined && grantType === undefined) {
    throw usage('--match is missing', 'as in `--match "POST /v2/droplets"`; `--match "*"` is every request');
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
  const delay = ms === undefined ? duration(text, '--delay') : Number(ms);
  if (delay > LONGEST_MS) throw usage(`--delay is too long: "${shown(text)}"`, 'give it 10m at most');
  return delay;
}

const LONGEST_MS = 600_000;
