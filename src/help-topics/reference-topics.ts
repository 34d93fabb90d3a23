import { type CliErrorCode, exitCodes } from '../base/errors.ts';
import { type TopicPage, variableSpecs } from '../cli/command.ts';
import { globalOptions, helpOptions } from '../cli/command-table.ts';
import { optionEntries } from '../cli/help.ts';
import { cliErrorCodeMeanings } from './cli-error-code-meanings.ts';

export const optionsHelpTopic: TopicPage = {
  text: 'Every command has these options. Options may stand before or after the command. An option on the command line precedes an environment variable, which precedes the profile.',
  sections: [{ title: 'Options', entries: optionEntries([...globalOptions, ...helpOptions]) }],
};

export const environmentHelpTopic: TopicPage = {
  text: 'An environment variable precedes the setting of the profile. An empty variable counts as not set.',
  sections: [
    {
      title: 'Variables',
      entries: variableSpecs.map(({ name, description, commands = [] }) => ({
        term: name,
        text: commands.length === 0 ? description : `${description} (${shortenCommandList(commands)})`,
      })),
    },
  ],
};

/** More than two commands of one group are named by their group. */
function shortenCommandList(commands: readonly string[]): string {
  const groups = [...new Set(commands.map((command) => command.split(' ')[0]))];
  return (commands.length > 2 && groups.length === 1 ? groups : commands).join(', ');
}

/** The meaning of every exit code, in numerical order. */
export const meaningOfExitCode: readonly (readonly [number: string, meaning: string])[] = [
  ['0', 'done'],
  ['1', 'failed'],
  ['2', 'the command line or the configuration is wrong; nothing was sent'],
  ['3', 'the requested migration method is not possible and nothing was sent'],
  ['4', 'not logged in, access refused, or the scope is too small'],
  [
    '5',
    'partly done: something of a batch, an inventory, a comparison or a cut-over is left, or its result is unknown',
  ],
  ['6', 'a server was not reached: error of the name lookup, the connection or TLS, or a timeout'],
  ['7', 'a file of the program or the standard output cannot be written: the disk is full, read-only or forbidden'],
  ['129', 'ended by SIGHUP: the terminal was closed'],
  ['130', 'interrupted by Ctrl-C'],
  ['143', 'ended by SIGTERM'],
];

export const exitCodesHelpTopic: TopicPage = {
  text: 'Scripts may rely on exit codes and error codes. With -o json and -o ndjson an error is one JSON object on standard error, with its code and a hint.',
  sections: [
    { title: 'Exit codes', entries: meaningOfExitCode.map(([term, text]) => ({ term, text })) },
    {
      title: 'Error codes',
      entries: Object.entries(cliErrorCodeMeanings).map(([term, { meaning }]) => ({
        term,
        text: `${exitCodes[term as CliErrorCode]}: ${meaning}`,
      })),
    },
  ],
};
