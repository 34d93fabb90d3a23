import { type ApiAction, readAction } from '../../api/actions.ts';
import type { ApiClient } from '../../api/client.ts';
import { createReader } from '../../api/list.ts';
import { FailedReads } from '../../api/waits.ts';
import { CliError, usageError } from '../../base/errors.ts';
import { isId, readExactField, readStringField } from '../../base/json.ts';
import { formatDuration } from '../../base/text.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { pauseOf, quietForJson } from '../../cli/command-io.ts';
import { requireDuration, shortenInput } from '../../cli/values.ts';
import { actorOf } from '../../context/actor.ts';
import type { CommandContext } from '../../context.ts';
import { timeLimits } from '../../droplets/index.ts';
import { runUntilSignal } from '../../platform/waiting.ts';
import { actionFields, actionView } from './list.ts';

export const actionsGet: CommandSpec<CommandContext> = {
  description:
    'Shows one action. With --wait, waits until it is completed; an action that ends with an error is printed, and the exit code is 1.',
  arguments: [{ name: 'ID', description: 'Id of the action', required: true, listedBy: 'cloudctl actions list' }],
  options: [
    { name: 'wait', description: 'Wait until the action has ended' },
    {
      name: 'wait-timeout',
      valueName: 'DURATION',
      description: 'With --wait: the longest wait, after which the exit code is 5 (default: 15m)',
    },
  ],
  examples: [{ text: 'Wait until a droplet is created', command: 'cloudctl actions get 400000014 --wait' }],
  columns: actionView.columns,
  fields: actionFields,
  run: async (context, args) => {
    const id = requireActionId(args.positionals[0] ?? '');
    const timeout = requireDuration(args.value('wait-timeout') ?? '15m', '--wait-timeout', 1000);
    if (args.has('wait-timeout') && !args.has('wait')) throw usageError('--wait-timeout needs --wait', 'add `--wait`');
    context.output.checkColumns(actionView);
    const settings = context.settings();
    const api = await context.api(settings);
    if (!args.has('wait')) {
      const action = await readAction(createReader(api), id);
      await context.output.object(action.raw, actionView);
      return 0;
    }
    const action = await waitForAction(context, api, id, timeout);
    if (action !== undefined) await context.output.object(action.raw, actionView);
    if (action?.status === 'completed') return 0;
    const what = action === undefined ? `action ${id}` : `action ${id} (${action.type})`;
    if (action?.status === 'errored')
      throw new CliError('api_error', `${what} ended with an error`, { detail: describeResource(action) });
    throw new CliError('timeout', `${what} is not completed after ${formatDuration(timeout)}`, {
      detail:
        action === undefined ? 'the action could not be read' : `the action still has the status ${action.status}`,
      hint: `wait again with \`${actorOf(context).command('actions get', id, '--wait')}\``,
      exitCode: 5,
    });
  },
};

function describeResource({ raw }: ApiAction): string | undefined {
  const [type, id] = [readStringField(raw, 'resource_type'), readExactField(raw, 'resource_id')];
  return type === undefined || id === undefined ? undefined : `the resource of the action is ${type} ${id}`;
}

function requireActionId(text: string): string {
  if (isId(text)) return text;
  throw usageError(
    `ID is not the id of an action: "${shortenInput(text)}"`,
    'list the ids with `cloudctl actions list --format ID,Type`',
  );
}

/** Returns the action when it has ended, or as it was last read before the time limit. */
async function waitForAction(
  context: CommandContext,
  api: ApiClient,
  id: string,
  timeout: number,
): Promise<ApiAction | undefined> {
  const { host, progress } = quietForJson(context);
  const { clock, env, signals } = host;
  const { pollInterval } = timeLimits(env);
  const [deadline, over] = [new AbortController(), new AbortController()];
  clock.sleep(timeout, over.signal).then(
    () => deadline.abort(),
    () => {},
  );
  const wait = runUntilSignal(signals, `interrupted before action ${id} had ended`, async (interrupted) => {
    const signal = AbortSignal.any([interrupted, deadline.signal]);
    const reader = createReader(api, pauseOf({ host, progress }, signal), signal);
    const failed = new FailedReads();
    let action: ApiAction | undefined;
    try {
      for (;;) {
        try {
          action = await readAction(reader, id);
          failed.succeed();
        } catch (error) {
          failed.add(error);
        }
        if (action?.status === 'completed' || action?.status === 'errored') return action;
        await progress.show(`action ${id} (${action?.type}) is ${action?.status}`);
        await clock.sleep(pollInterval, signal);
      }
    } catch (error) {
      if (deadline.signal.aborted) return action;
      throw error;
    }
  });
  return wait.finally(async () => {
    over.abort();
    await progress.stop();
  });
}
