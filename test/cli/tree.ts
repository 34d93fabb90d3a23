import { CliError } from '../../src/base/errors.ts';
import type { CommandSpec, CommandTree, LazyCommand, ParsedArgs } from '../../src/cli/command.ts';
import { runCommandLine } from '../../src/cli/run.ts';
import { fakeSink } from './sink.ts';

export interface RecordedRun {
  readonly command: string;
  readonly words: ParsedArgs;
  readonly globals: ParsedArgs;
}

interface TestContext {
  readonly ran: (command: string, words: ParsedArgs) => void;
}

type LeafSpec = Omit<CommandSpec<TestContext>, 'run'> & { readonly summary: string };

/** A command that only tells that it ran. */
function recordingCommand(
  command: string,
  { summary, ...spec }: LeafSpec,
  loaded: string[] = [],
): LazyCommand<TestContext> {
  return {
    kind: 'command',
    summary,
    load: async () => {
      loaded.push(command);
      return {
        ...spec,
        run: async (context, words) => {
          context.ran(command, words);
          return 0;
        },
      };
    },
  };
}

/** A tree in the shape of the program's own, whose commands only tell that they ran. */
export function testTree(loaded: string[] = []): CommandTree<TestContext> {
  const leaf = (command: string, spec: LeafSpec) => recordingCommand(command, spec, loaded);
  return {
    auth: {
      kind: 'group',
      summary: 'log in and out',
      children: {
        status: leaf('auth status', { summary: 'show the login' }),
        switch: leaf('auth switch', {
          summary: 'change the current profile',
          arguments: [{ name: 'PROFILE', description: 'its name', required: true, completion: { from: 'profile' } }],
        }),
      },
    },
    actions: {
      kind: 'group',
      summary: 'what was done on the account',
      defaultCommand: 'list',
      children: {
        list: leaf('actions list', {
          summary: 'list actions',
          options: [{ name: 'limit', valueName: 'N', description: 'at most so many' }],
        }),
      },
    },
    droplets: {
      kind: 'group',
      summary: 'compute instances',
      defaultCommand: 'list',
      children: {
        list: leaf('droplets list', {
          summary: 'list droplets',
          arguments: [{ name: 'GLOB', description: 'names to list', completion: { from: 'droplet' } }],
          columns: [{ name: 'ID' }, { name: 'Name' }, { name: 'Status' }],
          fields: ['id', 'name'],
          options: [{ name: 'region', valueName: 'R', description: 'in one region' }],
        }),
        create: leaf('droplets create', {
          summary: 'create droplets',
          description: 'Creates one droplet for each name.\n\nNames expand braces.',
          arguments: [{ name: 'NAME', description: 'names to create', variadic: true }],
          options: [
            { name: 'names', valueName: 'LIST', multiple: 'list', description: 'more names' },
            { name: 'names-from', valueName: 'FILE', description: 'a file of names', completion: 'file' },
            { name: 'set', valueName: 'KEY=JSON', multiple: 'repeat', description: 'one more field' },
            {
              name: 'if-exists',
              valueName: 'WHAT',
              choices: ['fail', 'skip', 'create'],
              description: 'when the name is taken',
            },
            { name: 'wait', short: 'w', description: 'wait until it is active' },
          ],
          examples: [{ text: 'three at once', command: 'cloudctl droplets create web-{1..3} --size s --image i' }],
        }),
      },
    },
    db: {
      kind: 'group',
      summary: 'online migrations',
      children: {
        migrate: leaf('db migrate', {
          summary: 'start an online migration',
          arguments: [{ name: 'CLUSTER_UUID', description: 'the target', required: true }],
        }),
      },
    },
    completion: leaf('completion', {
      summary: 'print a completion script',
      arguments: [
        { name: 'SHELL', description: 'which', required: true, choices: ['bash', 'zsh', 'fish', 'powershell'] },
      ],
    }),
  };
}

/** Profiles alone; nothing is known of droplets. */
export function testNames(from: string): readonly { readonly value: string }[] {
  return from === 'profile' ? [{ value: 'home' }, { value: 'work' }] : [];
}

export interface Result {
  readonly exitCode: number;
  readonly stdout: string;
  readonly ran: RecordedRun | undefined;
  readonly error: CliError | undefined;
  readonly loaded: readonly string[];
}

/** Runs the test tree with a line of words, split at blanks. */
export async function run(
  line: string | readonly string[],
  { columns, overview = false }: { readonly columns?: number; readonly overview?: boolean } = {},
): Promise<Result> {
  const argv = typeof line === 'string' ? line.split(' ').filter((word) => word !== '') : line;
  const stdout = fakeSink(columns);
  const loaded: string[] = [];
  let ran: RecordedRun | undefined;
  try {
    const exitCode = await runCommandLine({
      name: 'cloudctl',
      version: '1.2.3',
      summary: 'the command line of the cloud',
      tree: testTree(loaded),
      topics: { output: { summary: 'formats', load: async () => ({ text: 'Every format.' }) } },
      ...(overview ? { overview: recordingCommand('overview', { summary: 'show everything' }) } : {}),
      argv,
      stdout,
      env: {},
      namesFrom: testNames,
      makeContext: (globals) => ({
        ran: (command: string, words: ParsedArgs) => {
          ran = { command, words, globals };
        },
      }),
    });
    return { exitCode, stdout: stdout.text(), ran, error: undefined, loaded };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { exitCode: error.exitCode, stdout: stdout.text(), ran, error, loaded };
  }
}
