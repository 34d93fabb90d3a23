import type { CliError, ExitCode } from './base/errors.ts';
import { programVersion } from './base/version.ts';
import { usesColor } from './cli/color.ts';
import { printError, toCliError, writesJson } from './cli/error-output.ts';
import { createPager } from './cli/pager-printer.ts';
import { runCommandLine } from './cli/run.ts';
import { commandTree, overviewCommand } from './commands/index.ts';
import { DamagedConfigError } from './config/config-file.ts';
import { helpTopics } from './help-topics/help-topics.ts';
import {
  similarToolCommandReplacements,
  topLevelCommandAliases,
  translateSimilarToolCommand,
} from './help-topics/similar-tools.ts';
import { type HostSystem, redactOutput } from './platform/host.ts';
import { systemHost } from './platform/system-host.ts';

/** Runs the whole program. `argv` contains the arguments after the program's name. Errors are printed and never thrown. */
export async function runCliCommandLine(argv: readonly string[], system: HostSystem): Promise<ExitCode> {
  const host = redactOutput(system);
  let json = writesJson(argv, host.env, host.stderr.isTTY);
  let describe = (error: CliError): CliError => error;
  try {
    return await runCommandLine({
      name: 'cloudctl',
      version: programVersion,
      summary: programSummary,
      examples: programExamples,
      tree: commandTree,
      overview: overviewCommand,
      replacements: similarToolCommandReplacements,
      translate: translateSimilarToolCommand,
      aliases: topLevelCommandAliases,
      topics: helpTopics,
      argv,
      stdout: host.stdout,
      paged: (noPager) => createPager({ host, stdout: host.stdout, noPager }),
      env: host.env,
      namesFrom: async (from, typed) => (await import('./context/completion.ts')).completionNames(host, from, typed),
      fixedNames: ['check'],
      makeContext: async (globals, [command], spec) => {
        // The module context.ts is loaded on first use, because `cloudctl help` does not need it.
        const { createContext, withProfile } = await import('./context.ts');
        const context = await createContext(host, globals, command === 'doctor', spec);
        // The output format of the profile is known only after the context has been created.
        json = context.output.format === 'json' || context.output.format === 'ndjson';
        describe = (error) => withProfile(context.settings, error);
        return context;
      },
    });
  } catch (thrown) {
    const error = describe(await toDescribedError(thrown));
    const color = usesColor({ sink: host.stderr, env: host.env, noColor: argv.includes('--no-color') });
    await printError(error, { stderr: host.stderr, json, color });
    return error.exitCode;
  }
}

export const programSummary =
  'Log in to the cloud through the browser, create droplets in batch, and migrate databases online.';

export const programExamples = [
  { text: 'Try everything without an account', command: 'cloudctl sandbox start' },
  { text: 'Set up a profile, then log in', command: 'cloudctl auth setup && cloudctl auth login' },
  {
    text: 'Check whether a database can be migrated',
    command: 'cloudctl db preflight --source postgres://USER@HOST/DBNAME',
  },
];

async function toDescribedError(thrown: unknown): Promise<CliError> {
  if (!(thrown instanceof DamagedConfigError)) return toCliError(thrown);
  const { damagedConfig } = await import('./config/damaged-config-error.ts');
  return damagedConfig(thrown);
}

/** Whether the command is `sandbox start`. The word `sandbox` alone proves nothing: a profile can have this name. */
export function isSandboxStartCommand(argv: readonly string[]): boolean {
  return argv.some((word, at) => word === 'sandbox' && argv[at + 1] === 'start');
}

/** Runs the program on this machine. Commands that use the network tune V8 for a short run; the sandbox does not. */
export function runCliProcess(argv: readonly string[]): Promise<ExitCode> {
  const onNetwork = async (): Promise<void> => (await import('./platform/memory.ts')).tuneClient();
  return runCliCommandLine(argv, systemHost(isSandboxStartCommand(argv) ? {} : { onNetwork }));
}
