import { wantsColor } from './cli/color.ts';
import { runProgram } from './cli/program.ts';
import { asCliError, printError, wantsJsonErrors } from './cli/report.ts';
import { commands } from './commands/index.ts';
import { DamagedConfig } from './config/file.ts';
import type { CliError, ExitCode } from './errors.ts';
import type { Host } from './platform/host.ts';
import { systemHost } from './platform/system.ts';
import { version } from './version.ts';

/** The whole program in one call. `argv` are the words after the program's name. */
export async function run(argv: readonly string[], host: Host): Promise<ExitCode> {
  let json = wantsJsonErrors(argv, host.env);
  try {
    return await runProgram({
      name: 'cloudctl',
      version,
      summary: 'Log in to the cloud through the browser, create droplets in batch, and migrate databases online.',
      examples: firstSteps,
      tree: commands,
      argv,
      stdout: host.stdout,
      env: host.env,
      makeContext: async (globals) => {
        // Help is answered without it.
        const { createContext } = await import('./context.ts');
        const context = await createContext(host, globals);
        // Only now the format of the profile is known as well.
        json = context.output.format === 'json' || context.output.format === 'ndjson';
        return context;
      },
    });
  } catch (thrown) {
    const error = await worded(thrown);
    const color = wantsColor({ sink: host.stderr, env: host.env, noColor: argv.includes('--no-color') });
    await printError(error, { stderr: host.stderr, json, color });
    return error.exitCode;
  }
}

const firstSteps = [
  { text: 'Try everything without an account', command: 'cloudctl sandbox start' },
  { text: 'Name the servers and the application, then log in', command: 'cloudctl auth setup && cloudctl auth login' },
  {
    text: 'Is a database ready to be migrated?',
    command: 'cloudctl db preflight --source postgres://USER@HOST/DBNAME',
  },
];

async function worded(thrown: unknown): Promise<CliError> {
  if (!(thrown instanceof DamagedConfig)) return asCliError(thrown);
  const { explainDamage } = await import('./config/damage.ts');
  return explainDamage(thrown);
}

/** A server that runs for hours has the time to compile, and the room. `sandbox` alone may be the name of a profile. */
export function isServer(argv: readonly string[]): boolean {
  return argv.some((word, at) => word === 'sandbox' && argv[at + 1] === 'start');
}

/** The same on this machine. */
export function runHere(argv: readonly string[]): Promise<ExitCode> {
  const onNetwork = async (): Promise<void> => (await import('./platform/v8-flags.ts')).tuneClient();
  return run(argv, systemHost(isServer(argv) ? {} : { onNetwork }));
}
