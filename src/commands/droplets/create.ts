import { attributeOptions } from '../../batch/attribute-options.ts';
import { batchIo } from '../../batch/batch-io.ts';
import { batchView } from '../../batch/batch-reporter.ts';
import {
  noNamesError,
  readBatchNames,
  readDropletAttributes,
  readIfExists,
  requireSameBatch,
} from '../../batch/create-args.ts';
import { batchTag, withTag } from '../../batch/droplet-requests.ts';
import { dryRunRequests, dryRunView } from '../../batch/dry-run.ts';
import { createLedger, type Ledger, ledgerPath, openLedger } from '../../batch/ledger.ts';
import { type BatchEvent, ifExistsChoices } from '../../batch/ledger-event.ts';
import { ledgerIdentity, ledgerIdentityFields, requireLedgerIdentity } from '../../batch/ledger-identity.ts';
import { batchResumeCommand, profileOptionArgs } from '../../batch/resume-command.ts';
import { isFinished, runBatch } from '../../batch/run-batch.ts';
import { readUserData, requireSameUserData, type UserData } from '../../batch/user-data.ts';
import type { CommandSpec, ParsedArgs } from '../../cli/command.ts';
import { requireDuration } from '../../cli/duration.ts';
import { requireNonEmptyValue } from '../../cli/required-value.ts';
import { requireWholeNumber } from '../../cli/whole-number.ts';
import type { ProfileSettings } from '../../config/settings.ts';
import { describeActor, readCurrentIdentity, readIdentityIfAvailable } from '../../context/current-identity.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { loginHints } from '../../session/session-binding.ts';
import { reauthenticateCommand } from '../../session/stored-session.ts';
import { showRateLimitWait } from '../rate-limit-pause.ts';

export const dropletsCreateCommand: CommandSpec<Context> = {
  description:
    'Creates exactly one droplet for every name. Names are read from arguments, --names, a file and standard input together; patterns such as `web-{01..25}` and `{a,b}` expand. A ledger file records what was sent and created, and its path is printed first, and is in each JSON row: `--resume LEDGER` continues the batch after an interruption or a crash, and creates no droplet twice.\n\nThe output has one row for every name. When no complete response to a request arrives, its names are looked up, and are sent again only if no droplet has them. A name whose result cannot be determined has the status `unknown`.',
  arguments: [{ name: 'NAME', description: 'Name, or a pattern such as "web-{01..25}"', variadic: true }],
  options: [
    { name: 'names', valueName: 'a,b', multiple: 'list', description: 'Names or patterns' },
    {
      name: 'names-from',
      valueName: 'FILE',
      description: 'File with one name or pattern per line; - reads standard input',
      completion: 'file',
    },
    { name: 'size', valueName: 'SLUG', description: 'Size of every droplet' },
    { name: 'image', valueName: 'SLUG', description: 'Image of every droplet: slug or numeric id' },
    { name: 'region', valueName: 'SLUG', description: 'Region of every droplet' },
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
    { name: 'dry-run', description: 'Print the requests, also as curl commands, without sending them' },
    { name: 'batch-size', valueName: 'N', description: 'Names per request, 1 to 10 (default: 10)' },
    { name: 'concurrency', valueName: 'N', description: 'Requests sent at the same time, 1 to 32 (default: 4)' },
    {
      name: 'max-wait',
      valueName: 'DURATION',
      description: 'Longest wait for the rate limit of the server; a longer one ends the run (default: 15m)',
    },
    {
      name: 'if-exists',
      valueName: 'ACTION',
      choices: ifExistsChoices,
      description:
        'When droplets already have some of the names: fail, skip these names, or create more droplets (default: fail)',
    },
    {
      name: 'mark',
      description: 'Tag every droplet with the id of the batch, so that the batch finds its own droplets',
    },
    {
      name: 'skip-account-check',
      description: 'With --resume: continue although the account of the ledger could not be verified',
    },
    { name: 'resume', valueName: 'LEDGER', description: 'Continue the batch of this ledger file', completion: 'file' },
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
  ],
  run: async (context, args) => {
    const { output } = context;
    const batchSize = requireWholeNumber(args.value('batch-size') ?? '10', '--batch-size', { min: 1, max: 10 });
    const concurrency = requireWholeNumber(args.value('concurrency') ?? '4', '--concurrency', { min: 1, max: 32 });
    const maxWait = requireDuration(args.value('max-wait') ?? '15m', '--max-wait');
    const waitTimeout = requireDuration(args.value('wait-timeout') ?? '15m', '--wait-timeout', 1000);
    if (args.value('wait-timeout') !== undefined && !args.has('wait'))
      throw usageError('--wait-timeout needs --wait', 'add `--wait`');
    const path = requireNonEmptyValue(args, 'resume', '~/.local/state/cloudctl/batches/3f9c2a61d0b7.jsonl');
    const isDryRun = args.has('dry-run');
    const userData = await readUserData(context, args);
    // Modules for requests are loaded before the names: the heap that a million names need would otherwise stay larger.
    if (!isDryRun) await context.send();
    if (isDryRun) output.checkColumns(dryRunView);
    else output.checkColumns(batchView);
    if (path === undefined && isDryRun) {
      const settings = context.settings();
      const { attributes, names } = await buildBatch(context, args, settings, userData);
      const profileOptions = profileOptionArgs(context.globals, settings.profile);
      const options = { batchSize, baseUrl: settings.values.base_url, profileOptions, userData };
      await output.list(dryRunRequests(names, attributes, options), dryRunView);
      return 0;
    }
    const ledger =
      path === undefined ? await startLedger(context, args, userData) : await openLedger(path, context.host.bootId);
    try {
      const { batch, missing } = ledger.state;
      const isOver = isFinished(ledger.state);
      if (path !== undefined) await requireSameBatch(context, args, batch);
      requireSameUserData(userData, batch.attributes.user_data, isOver);
      const settings = context.settings();
      requireSameProfile(settings, batch);
      const profileOptions = profileOptionArgs(context.globals, settings.profile);
      if (isDryRun) {
        const options = { batchSize, baseUrl: batch.base_url, profileOptions, userData };
        await output.list(dryRunRequests(missing(), batch.attributes, options), dryRunView);
        return 0;
      }
      const api = await context.api(settings);
      // With --wait the droplets of a finished batch are read, which another account does not see.
      const isContinued = path !== undefined && (!isOver || args.has('wait'));
      const hints = loginHints(settings, context.host.folders.config);
      const current = isContinued ? await readCurrentIdentity(context, settings) : ledgerIdentity(batch);
      if (isContinued) {
        const [isSkipped, loginHint] = [args.has('skip-account-check'), ledgerLoginHint(settings, batch)];
        await requireLedgerIdentity({ api, state: ledger.state, current, loginHint, loginHints: hints, isSkipped });
      }
      const io = batchIo(context);
      if (context.prompts.interactive && !isOver)
        await io.output.note(`Creates droplets as ${describeActor(context, settings, current)}.`);
      await io.output.show(`ledger: ${ledger.path}`);
      return await runBatch(io, ledger, {
        api,
        userData,
        loginHints: hints,
        onPause: (ms) => showRateLimitWait(io, ms),
        timeout: context.timeout,
        batchSize,
        concurrency,
        wait: args.has('wait'),
        waitTimeout,
        maxWait,
        resume: batchResumeCommand(ledger.path, args, profileOptions, userData),
        profileOptions,
      });
    } finally {
      await ledger.close();
    }
  },
};

/** A new batch as the arguments describe it. */
async function buildBatch(
  context: Context,
  args: ParsedArgs,
  settings: ProfileSettings,
  userData: UserData | undefined,
): Promise<BatchEvent> {
  const names = await readBatchNames(context, args);
  if (names.length === 0) throw noNamesError(args);
  const typed = readDropletAttributes(args, userData);
  const id = Buffer.from(context.host.random(6)).toString('hex');
  const mark = args.has('mark');
  const attributes = mark ? withTag(typed, batchTag(id)) : typed;
  if (attributes === undefined)
    throw usageError(
      '--set tags is not a list of strings',
      'write it as in `--set tags=\'["web"]\'`; --mark adds a tag',
    );
  return {
    event: 'batch',
    v: 1,
    id,
    at: new Date(context.host.clock.now()).toISOString(),
    profile: settings.profileName,
    base_url: settings.values.base_url ?? '',
    if_exists: readIfExists(args),
    mark,
    attributes,
    names,
  };
}

async function startLedger(context: Context, args: ParsedArgs, userData: UserData | undefined): Promise<Ledger> {
  const settings = context.settings();
  const batch = await buildBatch(context, args, settings, userData);
  // A profile without a usable API is an error before a ledger exists.
  const identity = await readIdentityIfAvailable(context, settings);
  const { folders, bootId } = context.host;
  return createLedger(ledgerPath(folders.state, batch.id), { ...batch, ...ledgerIdentityFields(identity) }, bootId);
}

/** How to continue a batch that another account or team started. */
function ledgerLoginHint({ accessToken, profile }: ProfileSettings, { account, team }: BatchEvent): string {
  if (accessToken !== undefined) return 'set CLOUDCTL_ACCESS_TOKEN to a token of the account that started it';
  const ended = {
    scope: 'read write',
    ...(account === undefined ? {} : { accountUuid: account }),
    ...(team === undefined ? {} : { team }),
  };
  return `log in as the account that started it: ${reauthenticateCommand(profile, ended, [])}`;
}

/** With another server the lookups would find no droplet of the batch, and all would be created again. */
function requireSameProfile(settings: ProfileSettings, { profile, base_url }: BatchEvent): void {
  const detail = `the batch was started with profile "${profile}" at ${base_url}`;
  if (settings.profileName !== profile)
    throw usageError('--profile contradicts the ledger', `use \`--profile ${profile}\``, detail);
  if (settings.values.base_url !== base_url)
    throw usageError('--base-url contradicts the ledger', `use \`--base-url ${base_url}\``, detail);
}
