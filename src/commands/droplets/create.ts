import { batchResumeCommand, batchView, profileOptions } from '../../batch/batch-report.ts';
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
import { runBatch } from '../../batch/run-batch.ts';
import type { CommandSpec, ParsedArgs } from '../../cli/command.ts';
import { requireNonEmptyValue } from '../../cli/required-value.ts';
import { requireWholeNumber } from '../../cli/whole-number.ts';
import type { ProfileSettings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { usageError } from '../../errors.ts';
import { loginCommand } from '../../session/stored-session.ts';

export const dropletsCreateCommand: CommandSpec<Context> = {
  description:
    'Creates one droplet for every name, exactly once. Names come from arguments, --names, a file and standard input together; `web-{01..25}` and `{a,b}` expand. What was sent and what became of it is kept in a ledger, whose path is printed first: `--resume LEDGER` goes on after any end, even of the machine, and creates nothing twice.\n\nOne row is printed for every name, whatever happens to it. A request without a complete answer is in doubt: its names are looked up, and are sent again only when it is sure that they are not there. What cannot be decided is `unknown`.',
  arguments: [{ name: 'NAME', description: 'a name, or a pattern such as "web-{01..25}"', variadic: true }],
  options: [
    { name: 'names', valueName: 'a,b', multiple: 'list', description: 'names, or patterns of names' },
    {
      name: 'names-from',
      valueName: 'FILE',
      description: 'names from a file, one a line; - is standard input',
      completion: 'file',
    },
    { name: 'size', valueName: 'SLUG', description: 'size of every droplet' },
    { name: 'image', valueName: 'SLUG', description: 'image of every droplet: a slug or a number' },
    { name: 'region', valueName: 'SLUG', description: 'region of every droplet' },
    {
      name: 'set',
      valueName: 'KEY=JSON',
      multiple: 'repeat',
      description: 'any other attribute, as in --set tags=\'["web"]\'',
    },
    { name: 'wait', description: 'wait until the droplets are active' },
    { name: 'dry-run', description: 'print the requests, also as curl commands, and send nothing' },
    { name: 'batch-size', valueName: 'N', description: 'names in one request, 1 to 10 (10)' },
    { name: 'concurrency', valueName: 'N', description: 'requests in flight, 1 to 32 (4)' },
    {
      name: 'if-exists',
      valueName: 'WHAT',
      choices: ifExistsChoices,
      description: 'when droplets have some of the names: fail, skip those names, or create more (fail)',
    },
    { name: 'mark', description: 'tag every droplet with the id of this batch: proof of whose it is' },
    { name: 'resume', valueName: 'LEDGER', description: 'go on with the batch of this ledger', completion: 'file' },
  ],
  examples: [
    {
      text: 'One droplet',
      command: 'cloudctl droplets create web-01 --size s-1vcpu-1gb --image ubuntu-24-04-x64 --region nyc3',
    },
    {
      text: 'Twenty-five of them',
      command: "cloudctl droplets create 'web-{01..25}' --size s-1vcpu-1gb --image ubuntu-24-04-x64",
    },
    {
      text: 'Names from another program',
      command:
        'seq -f node-%03g 1 40 | cloudctl droplets create --names-from - --size s-1vcpu-1gb --image ubuntu-24-04-x64 -o ndjson',
    },
    {
      text: 'Go on with a batch that was interrupted',
      command: 'cloudctl droplets create --resume ~/.local/state/cloudctl/batches/3f9c2a61d0b7.jsonl',
    },
  ],
  run: async (context, words) => {
    const { output } = context;
    const batchSize = requireWholeNumber(words.value('batch-size') ?? '10', '--batch-size', { min: 1, max: 10 });
    const concurrency = requireWholeNumber(words.value('concurrency') ?? '4', '--concurrency', { min: 1, max: 32 });
    const path = requireNonEmptyValue(words, 'resume', '~/.local/state/cloudctl/batches/3f9c2a61d0b7.jsonl');
    // What requests need is loaded before the names are, which would make the heap grow that is kept small from then on.
    if (!words.has('dry-run')) await context.send();
    if (words.has('dry-run')) output.checkColumns(dryRunView);
    else output.checkColumns(batchView);
    if (path === undefined && words.has('dry-run')) {
      const settings = context.settings();
      const { attributes, names } = await buildBatch(context, words, settings);
      const where = { batchSize, baseUrl: settings.values.base_url, profileOptions: profileOptions(context) };
      await output.list(dryRunRequests(names, attributes, where), dryRunView);
      return 0;
    }
    const ledger = path === undefined ? await beginBatch(context, words) : await openLedger(path, context.host.bootId);
    try {
      if (path !== undefined) await requireSameBatch(context, words, ledger.state.batch);
      const settings = context.settings();
      await requireSameAccount(context, settings, ledger.state.batch);
      if (words.has('dry-run')) {
        const { batch, missing } = ledger.state;
        const where = { batchSize, baseUrl: batch.base_url, profileOptions: profileOptions(context) };
        await output.list(dryRunRequests(missing(), batch.attributes, where), dryRunView);
        return 0;
      }
      await output.show(`ledger: ${ledger.path}`);
      const resume = batchResumeCommand(context, ledger.path, words);
      return await runBatch(context, ledger, { batchSize, concurrency, settings, wait: words.has('wait'), resume });
    } finally {
      await ledger.close();
    }
  },
};

/** What was typed, as a batch of its own. */
async function buildBatch(context: Context, words: ParsedArgs, settings: ProfileSettings): Promise<BatchEvent> {
  const names = await readBatchNames(context, words);
  if (names.length === 0) throw noNamesError(words);
  const typed = readDropletAttributes(words);
  const id = Buffer.from(context.host.random(6)).toString('hex');
  const mark = words.has('mark');
  const attributes = mark ? withTag(typed, batchTag(id)) : typed;
  if (attributes === undefined)
    throw usageError(
      '--set tags is no list of texts',
      'write it as in `--set tags=\'["web"]\'`, since --mark adds a tag',
    );
  return {
    event: 'batch',
    v: 1,
    id,
    at: new Date(context.host.clock.now()).toISOString(),
    profile: settings.profileName,
    base_url: settings.values.base_url ?? '',
    if_exists: readIfExists(words),
    mark,
    attributes,
    names,
  };
}

async function beginBatch(context: Context, words: ParsedArgs): Promise<Ledger> {
  const settings = context.settings();
  const batch = await buildBatch(context, words, settings);
  const account = await accountOf(context, settings);
  // What keeps a batch from ever beginning is found before it has a ledger.
  await context.api(settings);
  const whole = account === undefined ? batch : { ...batch, account };
  const { folders, bootId: boot } = context.host;
  return createLedger(ledgerPath(folders.state, batch.id), whole, boot);
}

/** Elsewhere nothing of this batch would be found, and all of it would be created again. */
async function requireSameAccount(context: Context, settings: ProfileSettings, batch: BatchEvent): Promise<void> {
  const { profile, base_url, account } = batch;
  const detail = `the batch was begun with profile "${profile}" at ${base_url}`;
  if (settings.profileName !== profile)
    throw usageError('--profile contradicts the ledger', `give it as in \`--profile ${profile}\``, detail);
  if (settings.values.base_url !== base_url)
    throw usageError('--base-url contradicts the ledger', `give it as in \`--base-url ${base_url}\``, detail);
  const now = account === undefined ? undefined : await accountOf(context, settings);
  if (now !== undefined && now !== account)
    throw usageError(
      'the ledger belongs to another account',
      `log in to it: ${loginCommand(profile)}`,
      `begun as ${account}, logged in as ${now}`,
    );
}

/** An access token of the environment does not tell whose it is. */
async function accountOf(context: Context, settings: ProfileSettings): Promise<string | undefined> {
  if (settings.accessToken !== undefined) return undefined;
  return (await context.session(settings).record()).accountUuid;
}
