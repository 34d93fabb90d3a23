import { CliError, usageError, withHint } from '../../base/errors.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { parseDurationToMillisecondsOrThrow } from '../../cli/duration.ts';
import { quietForJson } from '../../cli/quiet-for-json.ts';
import { requireWholeNumber } from '../../cli/whole-number.ts';
import { describeCurrentAccount, readAccountAndServerOriginsIfAvailable } from '../../context/current-identity.ts';
import type { CommandContext } from '../../context.ts';
import {
  accountOf,
  attributeOptions,
  type Batch,
  type BatchState,
  createRetry,
  createState,
  describeBatch,
  dryRunView,
  ifExistsChoices,
  isFinished,
  newBatchHint,
  openLedger,
  planView,
  printDryRun,
  printPlan,
  readLedgerSelection,
  readUserData,
  repeatStep,
  requireSameOptions,
  resultView,
  resumeCommand,
  runBatch,
  startLedger,
} from '../../droplets/index.ts';
import { runUntilSignal } from '../../platform/until-signal.ts';
import { buildRefusedRequestHints } from '../../session/session-server-binding.ts';
import { formatProfileAndServerOptions } from '../profile-options.ts';
import { showRateLimitWait } from '../rate-limit-pause.ts';
import { requireAccountOfLedger, requireProfileMatchesLedger } from './ledger-profile.ts';
import { batchSendOptionSpecs, readBatchSendOptions } from './send-options.ts';

export const dropletsCreateCommand: CommandSpec<CommandContext> = {
  description:
    'Creates exactly one droplet for every name. Names are read from arguments, --names, a file and standard input together; patterns such as `web-{01..25}` and `{a,b}` expand. A ledger file records what was sent and created. Its path is printed first, and is in each JSON row. After an interruption or a crash, `--resume LEDGER` continues the batch and creates no droplet twice. The ledger of a single name is removed when its droplet is created.\n\nThe output has one row for every name. When no complete response to a request arrives, its names are looked up, and are sent again only if no droplet has them. A response may come up to 5 min later than `--timeout`: the names are looked up while the run waits, because a second request could create the droplets twice. A name whose result cannot be determined has the status `unknown`.',
  arguments: [{ name: 'NAME', description: 'Name, or a pattern such as "web-{01..25}"', variadic: true }],
  options: [
    { name: 'names', valueName: 'a,b', multiple: 'list', description: 'Names or patterns' },
    {
      name: 'names-from',
      valueName: 'FILE',
      description: 'File with one name or pattern per line; - reads standard input',
      completion: 'file',
    },
    {
      name: 'size',
      valueName: 'SLUG',
      description: 'Size of every droplet, such as s-1vcpu-1gb',
      completion: { from: 'size' },
    },
    {
      name: 'image',
      valueName: 'SLUG',
      description: 'Image of every droplet: slug, such as ubuntu-24-04-x64, or numeric id',
      completion: { from: 'image' },
    },
    {
      name: 'region',
      valueName: 'SLUG',
      description: 'Region of every droplet, such as nyc3',
      completion: { from: 'region' },
    },
    ...attributeOptions,
    {
      name: 'set',
      valueName: 'KEY=JSON',
      multiple: 'repeat',
      description: 'Additional attribute of every droplet, for example --set tags=\'["web"]\'',
    },
    { name: 'wait', description: 'Wait until the droplets are active; rows then have their public IPv4 address' },
    {
      name: 'wait-timeout',
      valueName: 'DURATION',
      description: 'With --wait: the longest wait until all droplets are active (default: 15m)',
    },
    {
      name: 'retry-for',
      valueName: 'DURATION',
      description:
        'Repeat after errors of the network and the server, and for unknown results, until every droplet exists or was refused, for at most this time',
    },
    { name: 'plan', description: 'Print which names exist, differ or would be created, without creating any' },
    { name: 'dry-run', description: 'Print the requests, also as curl commands, without sending them' },
    { name: 'batch-size', valueName: 'N', description: 'Names per request, 1 to 10 (default: 10)' },
    ...batchSendOptionSpecs,
    {
      name: 'if-exists',
      valueName: 'ACTION',
      choices: ifExistsChoices,
      description:
        'When droplets already have some of the names: fail, skip these names, or create more droplets (default: fail)',
    },
    {
      name: 'batch-id',
      valueName: 'ID',
      description:
        'Tag every droplet, so that the same command continues the batch on any machine, without its ledger. Two runs at the same time under one id are not safe',
    },
    { name: 'resume', valueName: 'LEDGER', description: 'Continue the batch of this ledger file', completion: 'file' },
    {
      name: 'ledger',
      valueName: 'FILE',
      description: 'Create this ledger file, or continue its batch when it exists',
      completion: 'file',
    },
  ],
  examples: [
    {
      text: 'Create one droplet',
      command: 'cloudctl droplets create web-01 --size s-1vcpu-1gb --image ubuntu-24-04-x64 --region nyc3',
    },
    {
      text: 'Create 25 droplets',
      command: "cloudctl droplets create 'web-{01..25}' --size s-1vcpu-1gb --image ubuntu-24-04-x64",
    },
    {
      text: 'Read the names from another program',
      command:
        'seq -f node-%03g 1 40 | cloudctl droplets create --names-from - --size s-1vcpu-1gb --image ubuntu-24-04-x64 -o ndjson',
    },
    {
      text: 'Continue an interrupted batch',
      command: 'cloudctl droplets create --resume ~/.local/state/cloudctl/batches/3f9c2a61d0b7.jsonl',
    },
    {
      text: 'Create a batch, or continue it on any machine',
      command:
        "cloudctl droplets create 'web-{01..25}' --size s-1vcpu-1gb --image ubuntu-24-04-x64 --batch-id release-42",
    },
  ],
  run: async (context, args) => {
    const { output } = context;
    const batchSize = requireWholeNumber(args.value('batch-size') ?? '10', '--batch-size', { min: 1, max: 10 });
    const { concurrency, maxWait } = readBatchSendOptions(args);
    const { host } = context;
    const io = quietForJson(context);
    const onPause = (ms: number): Promise<void> => showRateLimitWait(io, ms);
    const waitTimeout = parseDurationToMillisecondsOrThrow(args.value('wait-timeout') ?? '15m', '--wait-timeout', 1000);
    if (args.value('wait-timeout') !== undefined && !args.has('wait'))
      throw usageError('--wait-timeout needs --wait', 'add `--wait`');
    const retryFor = args.value('retry-for');
    const retry =
      retryFor === undefined
        ? undefined
        : createRetry(host, parseDurationToMillisecondsOrThrow(retryFor, '--retry-for', 1000));
    const { resumed, created } = readLedgerSelection(args);
    const [isDryRun, isPlan] = [args.has('dry-run'), args.has('plan')];
    const { stdin, clock, random } = host;
    const input = { stdin, clock, random, note: io.output.note };
    const userData = await readUserData(input, args);
    // Modules for requests are loaded first: loading them after a million names would keep the heap larger.
    if (!isDryRun) await context.send();
    if (isDryRun) output.checkColumns(dryRunView);
    else if (isPlan) output.checkColumns(planView);
    else output.checkColumns(resultView);
    const profileOptions = () => formatProfileAndServerOptions(context.globals, context.settings().profile);
    const loginHints = () => buildRefusedRequestHints(context.settings(), host.folders.config);
    /** @param again what the user can run after an interruption */
    const withRetry = <T>(step: () => Promise<T>, again?: string): Promise<T> =>
      retry === undefined
        ? step()
        : runUntilSignal(host.signals, 'interrupted before a droplet was requested', (signal) =>
            repeatStep(retry, io.output, signal, step),
          ).catch((error: unknown) => {
            if (!(error instanceof CliError) || error.code !== 'cancelled') throw error;
            throw withHint(error, again);
          });
    const dryRun = async (names: readonly string[], { attributes, base_url: baseUrl }: Batch) => {
      await printDryRun(context, names, attributes, { batchSize, baseUrl, profileOptions: profileOptions(), userData });
      return 0 as const;
    };
    const plan = async (state: BatchState) => {
      const lane = { api: await context.api(context.settings()), loginHints: loginHints(), maxPause: maxWait, onPause };
      await printPlan({ host, output, progress: io.progress }, state, lane);
      return 0 as const;
    };
    const described =
      resumed === undefined ? await describeBatch(input, args, context.settings(), userData) : undefined;
    if (described !== undefined && isDryRun) return dryRun(described.names, described);
    if (described !== undefined && isPlan) return plan(createState(described));
    const ledger =
      described === undefined
        ? await openLedger(resumed ?? '', host)
        : await startLedger(host, described, {
            path: created,
            identity: await withRetry(() =>
              readAccountAndServerOriginsIfAvailable(context, context.settings(), { maxWait, onPause }),
            ),
            days: context.settings().values.batch_ledger_days ?? 30,
          });
    try {
      const { state } = ledger;
      const { batch } = state;
      const isOver = isFinished(state);
      const isResumed = ledger.origin === 'resumed';
      if (isResumed) await requireSameOptions(input, args, state, userData);
      const settings = context.settings();
      requireProfileMatchesLedger(settings, batch);
      if (isDryRun) return await dryRun(state.missing(), batch);
      const api = await context.api(settings);
      // The rows of a finished batch are facts about this account, too.
      const hint = (): string => newBatchHint(ledger, batch.names, args, profileOptions(), userData);
      const current = isResumed
        ? await withRetry(
            () => requireAccountOfLedger(context, state, { maxWait, onPause }, hint()),
            `resume with \`${resumeCommand(ledger.path, args, profileOptions(), userData)}\``,
          )
        : accountOf(batch);
      if (isPlan) return await plan(state);
      if (context.prompts.interactive && !isOver)
        await io.output.note(`Creates droplets as ${describeCurrentAccount(context, settings, current)}.`);
      return await runBatch(io, ledger, args, {
        ...{ api, userData, loginHints: loginHints(), onPause, timeout: context.timeout },
        ...{ batchSize, concurrency, maxWait, profileOptions: profileOptions() },
        waitTimeout: args.has('wait') ? waitTimeout : undefined,
        retry,
      });
    } finally {
      await ledger.close();
    }
  },
};
