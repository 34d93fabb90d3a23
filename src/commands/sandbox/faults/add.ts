import { CliError, usageError } from '../../../base/errors.ts';
import { isJsonRecord } from '../../../base/json.ts';
import type { CommandSpec, ParsedArgs } from '../../../cli/command.ts';
import { requireDuration, requireInteger, shortenInput } from '../../../cli/values.ts';
import { adminUrlOption } from '../../../config/sandboxes.ts';
import type { CommandContext } from '../../../context.ts';
import { ACTION_NAMES, DELAY_ACTIONS } from '../../../sandbox/faults/fault.ts';
import { faultFields, faultView } from './list.ts';

export const faultsAdd: CommandSpec<CommandContext> = {
  description:
    'Applies the fault to the Nth matching request and, with --times, to those after it: the connection is cut before or after the commit, or the response is late, truncated, sent byte by byte or not JSON. If several faults match, the first one applies. Three actions imitate the behaviour of real servers: with `normalize_attributes` a droplet gets the newest region of the place, and the usual slug instead of an alias of the size or image; with `lag_lists` the lists show new droplets only after the delay, while `GET /v2/droplets/{id}` shows them at once; with `commit_late` the connection is closed at once and the request is carried out after the delay. The actions `normalize_attributes` and `lag_lists` apply in addition to another fault. `sandbox requests` shows for each request with a fault whether it was committed and whether its response was delivered. Faults never apply to the admin API.',
  options: [
    {
      name: 'match',
      valueName: '"METHOD PATH"',
      description:
        'matching requests: "POST /v2/droplets", "/v2/droplets" (any method), "GET /v2/*" or a route such as "GET /v2/droplets/{id}"',
    },
    {
      name: 'grant-type',
      valueName: 'TYPE',
      description: 'only token requests with this grant type, such as refresh_token',
      completion: ['authorization_code', 'refresh_token'],
    },
    { name: 'action', valueName: 'ACTION', description: 'fault to inject', choices: ACTION_NAMES },
    { name: 'nth', valueName: 'N', description: 'first matching request that the fault applies to (default: 1)' },
    { name: 'times', valueName: 'N', description: 'number of requests that the fault applies to (default: 1)' },
    {
      name: 'delay',
      valueName: 'DURATION',
      description:
        'real time before the response: 2s, 500ms; for slow_drip between two bytes (default: 10ms); for commit_late before the commit; for lag_lists the age from which lists show a droplet, by the clock of the sandbox',
    },
    { name: 'status', valueName: 'STATUS', description: 'HTTP status of the action status, 200 to 599 (default: 500)' },
    adminUrlOption,
  ],
  examples: [
    {
      text: 'Create the third droplet, but cut the connection before its response',
      command: 'cloudctl sandbox faults add --match "POST /v2/droplets" --action commit_then_drop --nth 3',
    },
    {
      text: 'Truncate the response of the next token refresh',
      command: 'cloudctl sandbox faults add --grant-type refresh_token --action half_body',
    },
    {
      text: 'Show new droplets in the next 1,000 lists only after 10 seconds',
      command: 'cloudctl sandbox faults add --match "GET /v2/droplets" --action lag_lists --delay 10s --times 1000',
    },
  ],
  fields: faultFields,
  run: async (context, args) => {
    const fault = readFault(args);
    const admin = await context.sandbox(args.value('admin-url'));
    const answer = await admin.call('POST', '/faults', fault);
    if (!isJsonRecord(answer))
      throw new CliError('api_error', 'could not parse the response of POST /faults: it has no fault');
    await context.output.object(answer, { columns: faultView.columns });
    return 0;
  },
};

function readFault(args: ParsedArgs): object {
  const action = args.value('action');
  if (action === undefined)
    throw usageError('missing option --action', 'pass an action, such as `--action commit_then_drop`');
  const nth = args.value('nth');
  const times = args.value('times');
  const delay = args.value('delay');
  const status = args.value('status');
  if (DELAY_ACTIONS.some((name) => name === action) && delay === undefined)
    throw usageError('missing option --delay', `pass a duration, such as \`--action ${action} --delay 2s\``);
  if (action !== 'status' && status !== undefined) {
    throw usageError(`cannot use --status with --action ${action}`, 'remove `--status`, or use `--action status`');
  }
  return {
    match: readMatch(args.value('match'), args.value('grant-type')),
    action,
    ...(nth === undefined ? {} : { nth: requireInteger(nth, '--nth', { min: 1 }) }),
    ...(times === undefined ? {} : { times: requireInteger(times, '--times', { min: 1 }) }),
    ...(delay === undefined ? {} : { delay: readDelay(delay) }),
    ...(status === undefined ? {} : { status: requireInteger(status, '--status', { min: 200, max: 599 }) }),
  };
}

function readMatch(match: string | undefined, grantType: string | undefined): object {
  const [, method, path] = /^(?:([A-Z]{1,20}) )?(\/[^\s?#*]*\*?|\*)$/.exec(match ?? '') ?? [];
  if (match !== undefined && path === undefined) {
    const hint = 'use a form such as `--match "POST /v2/droplets"`, without a query';
    throw usageError(`--match is not a method and a path: "${shortenInput(match)}"`, hint);
  }
  if (grantType !== undefined && !/^\S{1,100}$/.test(grantType)) {
    throw usageError(
      `--grant-type is not a grant type: "${shortenInput(grantType)}"`,
      'use a form such as `--grant-type refresh_token`',
    );
  }
  if (path === undefined && grantType === undefined) {
    throw usageError(
      'missing option --match',
      'pass a request, such as `--match "POST /v2/droplets"`; `--match "*"` matches every request',
    );
  }
  return {
    ...(method === undefined ? {} : { method }),
    ...(path === undefined ? {} : { path }),
    ...(grantType === undefined ? {} : { grant_type: grantType }),
  };
}

/** Parses the value of `--delay` to milliseconds. */
function readDelay(text: string): number {
  const delay = requireDuration(text, '--delay');
  if (delay > LONGEST_MS) throw usageError(`--delay is too long: "${shortenInput(text)}"`, 'pass 10m or less');
  return delay;
}

const LONGEST_MS = 600_000;
