import { readFileSync } from 'node:fs';
import { text as readAll } from 'node:stream/consumers';
import { type Attributes, createBatch, createRequests, type NameResult } from '../../batch/create.ts';
import { expandNames } from '../../batch/names.ts';
import type { ListView } from '../../cli/columns.ts';
import type { CommandSpec, Words } from '../../cli/command.ts';
import { wholeNumber } from '../../cli/number.ts';
import type { Output } from '../../cli/output.ts';
import type { Context } from '../../context.ts';
import { CliError, type ExitCode, usage } from '../../errors.ts';
import { parseJson } from '../../json.ts';
import { loginCommand } from '../../session/current.ts';

const view: ListView<NameResult> = {
  columns: [
    { name: 'Name', value: (row) => row.name },
    { name: 'Status', value: (row) => row.status },
    { name: 'ID', value: (row) => (row.status === 'created' ? row.id : undefined) },
    { name: 'ActionID', value: (row) => (row.status === 'created' ? row.action_id : undefined) },
    { name: 'Error', value: (row) => (row.status === 'created' ? undefined : row.error) },
  ],
};

interface Planned {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

const planView: ListView<Planned> = {
  columns: [
    { name: 'Method', value: (row) => row.method },
    { name: 'Path', value: (row) => row.path },
    { name: 'Body', value: (row) => JSON.stringify(row.body) },
  ],
};

export const create: CommandSpec<Context> = {
  summary: 'create droplets, one or many',
  description:
    'Creates one droplet for every name. Names come from arguments, --names, a file and standard input together; `web-{01..25}` and `{a,b}` expand. One row is printed for every name, whatever happens to it: a name whose fate is not known is `unknown` and is not sent again.',
  arguments: [{ name: 'NAME', description: 'a name, or a pattern such as "web-{01..25}"', variadic: true }],
  options: [
    { name: 'names', value: 'a,b', many: 'list', description: 'names, or patterns of names' },
    {
      name: 'names-from',
      value: 'FILE',
      description: 'names from a file, one a line; - is standard input',
      completes: 'file',
    },
    { name: 'size', value: 'SLUG', description: 'size of every droplet' },
    { name: 'image', value: 'SLUG', description: 'image of every droplet: a slug or a number' },
    { name: 'region', value: 'SLUG', description: 'region of every droplet' },
    {
      name: 'set',
      value: 'KEY=JSON',
      many: 'repeat',
      description: 'any other attribute, as in --set tags=\'["web"]\'',
    },
    { name: 'dry-run', description: 'print the requests and send nothing' },
    { name: 'batch-size', value: 'N', description: 'names in one request, 1 to 10 (10)' },
    { name: 'concurrency', value: 'N', description: 'requests in flight, 1 to 32 (4)' },
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
  ],
  run: async (context, words) => {
    const names = expandNames([
      ...words.args,
      ...words.list('names'),
      ...(await namesFrom(context, words.text('names-from'))),
    ]);
    if (names.length === 0)
      throw usage('names are missing', 'give them as arguments, with --names or with --names-from');
    const attributes = attributesOf(words);
    const batchSize = wholeNumber(words.text('batch-size') ?? '10', '--batch-size', { min: 1, max: 10 });
    const concurrency = wholeNumber(words.text('concurrency') ?? '4', '--concurrency', { min: 1, max: 32 });
    const { output } = context;
    if (words.flag('dry-run')) {
      const plan = createRequests(names, attributes, batchSize).map(
        ({ method, path, body }): Planned => ({ method, path, body: decoded(body) }),
      );
      await output.list(plan, planView);
      return 0;
    }
    const settings = context.settings();
    const login = loginCommand(settings.profileName);
    const api = await context.api(settings);
    const stream = output.format === 'ndjson';
    const { progress } = context;
    let known = 0;
    await progress.show(`0 of ${names.length} droplets`);
    const onResult = async (results: readonly NameResult[]): Promise<void> => {
      known += results.length;
      if (stream) await output.list(results, view);
      await progress.show(`${known} of ${names.length} droplets`);
    };
    const outcome = await createBatch(api, names, attributes, { batchSize, concurrency, onResult }, login).finally(() =>
      progress.stop(),
    );
    if (!stream) await output.list(outcome.results, view);
    return conclude(output, outcome.results, outcome.stopped);
  },
};

/** Exit 0 when every name was created; else the error that stopped it, 5 when some were created or are in doubt, 1 when none. */
async function conclude(
  output: Output,
  results: readonly NameResult[],
  stopped: CliError | undefined,
): Promise<ExitCode> {
  const count = (status: NameResult['status']): number => results.filter((result) => result.status === status).length;
  const [created, failed, unknown] = [count('created'), count('failed'), count('unknown')];
  if (created === results.length) {
    await output.note(`${created} created.`);
    return 0;
  }
  if (created === 0 && unknown === 0) throw stopped ?? noneCreated(results);
  const reason = stopped === undefined ? '' : `; stopped: ${stopped.message}`;
  await output.error(
    new CliError('batch_partial', `${created} of ${results.length} droplets were created`, {
      detail: `${failed} failed, ${unknown} unknown${reason}`,
      hint:
        unknown > 0
          ? 'look for the unknown ones with `cloudctl droplets list` before creating them again'
          : stopped?.hint,
    }),
  );
  return 5;
}

function noneCreated(results: readonly NameResult[]): CliError {
  const reasons = [...new Set(results.map((result) => (result.status === 'created' ? '' : result.error)))];
  return new CliError('api_error', 'no droplet was created', { detail: reasons.slice(0, 5).join('; ') });
}

async function namesFrom(context: Context, file: string | undefined): Promise<readonly string[]> {
  if (file === undefined) return [];
  const text = file === '-' ? await readAll(context.host.stdin) : readNames(file);
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  // The newline at the end of the last line begins no name.
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

function readNames(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw usage(
      `could not read the names: ${error instanceof Error ? error.message : String(error)}`,
      'name a file that can be read, as in `--names-from names.txt`',
    );
  }
}

function attributesOf(words: Words): Attributes {
  const size = words.text('size');
  const image = words.text('image');
  const region = words.text('region');
  const missing = [size === undefined ? '--size' : undefined, image === undefined ? '--image' : undefined].filter(
    (option) => option !== undefined,
  );
  if (size === undefined || image === undefined)
    throw usage(
      `${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} missing`,
      'give them as in `--size s-1vcpu-1gb --image ubuntu-24-04-x64`',
    );
  return {
    size,
    image: /^\d+$/.test(image) ? Number(image) : image,
    ...(region === undefined ? {} : { region }),
    extra: Object.fromEntries(words.list('set').map(attribute)),
  };
}

function attribute(text: string): readonly [string, unknown] {
  const at = text.indexOf('=');
  const key = text.slice(0, Math.max(at, 0));
  const reserved = ['name', 'names', 'size', 'image', 'region'];
  const json = parseJson(text.slice(at + 1));
  if (!/^[a-z][a-z0-9_]*$/.test(key) || !json.ok)
    throw usage(
      '--set is not KEY=JSON',
      'as in `--set tags=\'["web"]\'` or `--set ipv6=true`; text needs its quotes: `--set user_data=\'"…"\'`',
    );
  if (reserved.includes(key))
    throw usage(`--set cannot give ${key}`, key.startsWith('name') ? 'names are arguments' : `use --${key}`);
  return [key, json.value];
}

function decoded(body: string | undefined): unknown {
  const json = parseJson(body ?? '');
  return json.ok ? json.value : undefined;
}
