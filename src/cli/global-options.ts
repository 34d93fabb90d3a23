import type { OptionSpec } from './command.ts';

/** The global options, which every command accepts. */
export const globalOptions: readonly OptionSpec[] = [
  { name: 'profile', valueName: 'NAME', description: 'profile to use', completion: { from: 'profile' } },
  {
    name: 'output',
    short: 'o',
    valueName: 'FORMAT',
    description: 'output format: table, json, ndjson, yaml or csv (default: table)',
    choices: ['table', 'json', 'ndjson', 'yaml', 'csv'],
  },
  {
    name: 'json',
    valueName: 'FIELD,..',
    multiple: 'list',
    description: 'print these fields of the objects as JSON; without a value, list the fields',
    completion: 'field',
  },
  {
    name: 'format',
    valueName: 'COL,COL',
    multiple: 'list',
    description: 'columns to print, in this order',
    completion: 'column',
  },
  { name: 'no-header', description: 'omit the header line' },
  { name: 'query', valueName: 'JMESPATH', description: 'JMESPath expression that filters or reshapes the data' },
  { name: 'auth-url', valueName: 'URL', description: 'origin of the authorization server' },
  { name: 'base-url', valueName: 'URL', description: 'origin of the resource API' },
  { name: 'no-input', description: 'never prompt; a missing value is an error' },
  { name: 'yes', short: 'y', description: 'answer yes to every confirmation' },
  { name: 'quiet', short: 'q', description: 'print no progress and no notices' },
  { name: 'trace', description: 'print each HTTP request on stderr, with secrets removed' },
  { name: 'timeout', valueName: 'DURATION', description: 'time limit of one HTTP request: 90s, 5m, 2h (default: 30s)' },
  { name: 'no-color', description: 'print without colour' },
  { name: 'no-pager', description: 'never show long output in a pager' },
];

/** The help options, which every group and command accepts and the parser processes itself. */
export const helpAndVersionOptions: readonly OptionSpec[] = [
  { name: 'help', short: 'h', description: 'print help' },
  { name: 'version', short: 'V', description: 'print the version' },
];
