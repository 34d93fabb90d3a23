import { omitBatchNoticesForJson } from '../../batch/batch-io.ts';
import { openExistingBatchLedger } from '../../batch/ledger/batch-ledger.ts';
import { existingNameChoices } from '../../batch/ledger/batch-ledger-event.ts';
import { readBatchLedgerSelection } from '../../batch/ledger/batch-ledger-selection.ts';
import { createBatchLedgerState } from '../../batch/ledger/batch-ledger-state.ts';
import {
  readAccountAndServerOriginsOfBatchLedger,
  requireAccountMatchesBatchLedger,
} from '../../batch/ledger/ledger-account.ts';
import { optionalDropletAttributeOptionSpecs } from '../../batch/options/attribute-options.ts';
import { requireOptionsMatchBatchLedger } from '../../batch/options/create-args.ts';
import { readDropletUserData, requireSameDropletUserData } from '../../batch/options/user-data.ts';
import { batchResultListView } from '../../batch/report/batch-reporter.ts';
import { batchDryRunListView, buildBatchDryRunHttpRequests } from '../../batch/report/dry-run.ts';
import { batchPlanListView } from '../../batch/report/plan-batch.ts';
import { formatBatchResumeCommand, formatProfileAndServerOptions } from '../../batch/report/resume-command.ts';
import { isBatchFinished, runBatch } from '../../batch/run-batch.ts';
import { isSingleCreationWithoutBatchOptions } from '../../batch/single-droplet-creation.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { parseDurationToMillisecondsOrThrow } from '../../cli/duration.ts';
import { requireWholeNumber } from '../../cli/whole-number.ts';
import { describeCurrentAccount, readCurrentAccountAndServerOrigins } from '../../context/current-identity.ts';
import type { CommandContext } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { buildRefusedRequestHints } from '../../session/session-server-binding.ts';
import { showRateLimitWait } from '../rate-limit-pause.ts';
import { batchLedgerLoginHint, requireProfileMatchesLedger } from './ledger-profile.ts';
import { buildBatchDescriptionEvent, createBatchLedger } from './new-batch.ts';
import { printBatchPlan } from './print-plan.ts';
import { batchSendOptionSpecs, readBatchSendOptions } from './send-options.ts';

export const dropletsCreateCommand: CommandSpec<CommandContext> = {
  description:
    'Creates exactly one droplet for every name. Names are read from arguments, --names, a file and standard input together; patterns such as `web-{01..25}` and `{a,b}` expand. A ledger file records what was sent and created. Its path is printed first, and is in each JSON row. After an interruption or a crash, `--resume LEDGER` continues the batch and creates no droplet twice. The ledger of a single name is removed when its droplet is created.\n\nThe output has one row for every name. When no complete response to a request arrives, its names are looked up, and are sent again only if no droplet has them. A name whose result cannot be determined has the status `unknown`.',
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
    ...optionalDropletAttributeOptionSpecs,
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
    { name: 'plan', description: 'Print which names exist, differ or would be created, without creating any' },
    { name: 'dry-run', description: 'Print the requests, also as curl commands, without sending them' },
    { name: 'batch-size', valueName: 'N', description: 'Names per request, 1 to 10 (default: 10)' },
    ...batchSendOptionSpecs,
    {
      name: 'if-exists',
      valueName: 'ACTION',
      choices: existingNameChoices,
      description:
        'When droplets already have some of the names: fail, skip these names, or create more droplets (default: fail)',
    },
    {
      name: 'mark',
      description: 'Tag every droplet with the id of the batch, so that the batch finds its own droplets',
    },
    {
      name: 'batch-id',
      valueName: 'ID',
      description:
        'Tag every droplet, so that the same command continues the batch on any machine, without its ledger. Two runs at the same time under one id are not safe',
    },
    {
      name: 'skip-account-check',
      description: 'With --resume or --ledger: continue although the account of the ledger could not be verified',
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
    const io = omitBatchNoticesForJson(context);
    const onPause = (ms: number): Promise<void> => showRateLimitWait(io, ms);
    const waitTimeout = parseDurationToMillisecondsOrThrow(args.value('wait-timeout') ?? '15m', '--wait-timeout', 1000);
    if (args.value('wait-timeout') !== undefined && !args.has('wait'))
      throw usageError('--wait-timeout needs --wait', 'add `--wait`');
    const { resumed: path, created } = readBatchLedgerSelection(args);
    const [isDryRun, isPlan] = [args.has('dry-run'), args.has('plan')];
    const userData = await readDropletUserData(context, args);
    // Modules for requests are loaded first: loading them after a million names would keep the heap larger.
    if (!isDryRun) await context.send();
    if (isDryRun) output.checkColumns(batchDryRunListView);
    else if (isPlan) output.checkColumns(batchPlanListView);
    else output.checkColumns(batchResultListView);
    if (path === undefined && isDryRun) {
      const settings = context.settings();
      const { attributes, names } = await buildBatchDescriptionEvent(context, args, settings, userData);
      const profileOptions = formatProfileAndServerOptions(context.globals, settings.profile);
      const options = { batchSize, baseUrl: settings.values.base_url, profileOptions, userData };
      await output.list(buildBatchDryRunHttpRequests(names, attributes, options), batchDryRunListView);
      return 0;
    }
    if (path === undefined && isPlan) {
      const settings = context.settings();
      const state = createBatchLedgerState(await buildBatchDescriptionEvent(context, args, settings, userData));
      return printBatchPlan(context, state, { api: await context.api(settings), settings, maxWait });
    }
    const ledger = await (path === undefined
      ? createBatchLedger(context, args, { path: created, userData, wait: { maxWait, onPause } })
      : openExistingBatchLedger(path, context.host.bootId));
    try {
      const { batch, missing } = ledger.state;
      const isOver = isBatchFinished(ledger.state);
      if (path !== undefined) await requireOptionsMatchBatchLedger(context, args, batch);
      requireSameDropletUserData(userData, batch.attributes.user_data, isOver);
      const settings = context.settings();
      requireProfileMatchesLedger(settings, batch);
      const profileOptions = formatProfileAndServerOptions(context.globals, settings.profile);
      if (isDryRun) {
        const options = { batchSize, baseUrl: batch.base_url, profileOptions, userData };
        await output.list(buildBatchDryRunHttpRequests(missing(), batch.attributes, options), batchDryRunListView);
        return 0;
      }
      const api = await context.api(settings);
      // With --wait, the command reads the droplets of a finished batch, which another account cannot see.
      const isContinued = path !== undefined && (!isOver || args.has('wait') || isPlan);
      const hints = buildRefusedRequestHints(settings, context.host.folders.config);
      const current = isContinued
        ? await readCurrentAccountAndServerOrigins(context, settings, { maxWait, onPause })
        : readAccountAndServerOriginsOfBatchLedger(batch);
      if (isContinued) {
        const [isSkipped, loginHint] = [args.has('skip-account-check'), batchLedgerLoginHint(settings, batch)];
        await requireAccountMatchesBatchLedger({
          api,
          state: ledger.state,
          current,
          loginHint,
          loginHints: hints,
          isSkipped,
        });
      }
      if (isPlan) return await printBatchPlan(context, ledger.state, { api, settings, maxWait });
      if (context.prompts.interactive && !isOver)
        await io.output.note(`Creates droplets as ${describeCurrentAccount(context, settings, current)}.`);
      const isSingle = isSingleCreationWithoutBatchOptions(ledger, args);
      if (!isSingle) await io.output.show(`ledger: ${ledger.path}`);
      return await runBatch(io, ledger, {
        api,
        userData,
        isSingle,
        loginHints: hints,
        onPause,
        timeout: context.timeout,
        batchSize,
        concurrency,
        wait: args.has('wait'),
        waitTimeout,
        maxWait,
        resume: formatBatchResumeCommand(ledger.path, args, profileOptions, userData),
        profileOptions,
      });
    } finally {
      await ledger.close();
    }
  },
};
