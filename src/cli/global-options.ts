import type { OptionSpec } from './command.ts';

/** The options every command takes (contract.md §1). */
export const globalOptions: readonly OptionSpec[] = [
  { name: 'profile', valueName: 'NAME', description: 'the profile to use', completion: 'profile' },
  {
    name: 'output',
    short: 'o',
    valueName: 'FORMAT',
    description: 'how data is printed: table, json, ndjson, yaml or csv',
    choices: ['table', 'json', 'ndjson', 'yaml', 'csv'],
  },
  { name: 'format', valueName: 'COL,COL', multiple: 'list', description: 'the columns to print' },
  { name: 'no-header', description: 'leave the header line out' },
  { name: 'query', valueName: 'JMESPATH', description: 'filter the data before it is printed' },
  { name: 'auth-url', valueName: 'URL', description: 'origin of the authorization server' },
  { name: 'base-url', valueName: 'URL', description: 'origin of the resource API' },
  { name: 'no-input', description: 'never ask; a missing value is an error' },
  { name: 'yes', short: 'y', description: 'answer yes to every confirmation' },
  { name: 'quiet', short: 'q', description: 'no progress and no notices' },
  { name: 'trace', description: 'print each HTTP request on stderr, without its secrets' },
  { name: 'timeout', valueName: 'DURATION', description: 'the limit of one HTTP request, as in 90s, 5m or 2h (30s)' },
  { name: 'no-color', description: 'no colour' },
];

/** Taken at every level as well; the parser answers them itself. */
export const helpOptions: readonly OptionSpec[] = [
  { name: 'help', short: 'h', description: 'print help' },
  { name: 'version', short: 'V', description: 'print the version' },
];
