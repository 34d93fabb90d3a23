/**
 * Options of similar tools, each with the options that replace it; of these the first one that the command has is suggested.
 * An environment variable is suggested where there is no option.
 */
const similarOptions: Readonly<Record<string, readonly string[]>> = {
  ...same(['-p', '--context', '--account', '--configuration', '--project'], ['profile']),
  ...same(['--verbose', '--debug', '-d', '--trace-http', '--log-http'], ['trace']),
  ...same(['-t', '--access-token', '--token'], ['with-token', 'CLOUDCTL_ACCESS_TOKEN']),
  ...same(['-c', '--config'], ['CLOUDCTL_CONFIG_DIR']),
  ...same(['--jq', '--filter', '--filters', '--template', '--jsonpath'], ['query']),
  ...same(['-j', '--fields'], ['json']),
  ...same(['--columns', '--cols', '--output-columns'], ['format']),
  ...same(['--output-format', '--out'], ['output']),
  ...same(['-F', '--raw-field', '--form'], ['field']),
  ...same(['--body', '--data-raw', '--json-body'], ['data']),
  ...same(['-f'], ['names-from', 'watch', 'yes']),
  ...same(['--follow'], ['watch']),
  ...same(['--force', '--assume-yes', '--confirm', '--auto-approve'], ['yes']),
  ...same(['-s', '--silent'], ['size', 'quiet']),
  ...same(['--non-interactive', '--no-interactive', '--no-prompt'], ['no-input']),
  ...same(['-L', '-l', '--max-items', '--max-results', '--per-page'], ['limit']),
  ...same(['-w'], ['watch', 'wait']),
  ...same(['-n', '--name'], ['names']),
  ...same(['-r', '--zone', '--location', '--datacenter'], ['region']),
  ...same(['--tags', '--tag-name', '--label', '--labels', '--selector'], ['tag', 'tag-names']),
  ...same(['--type', '--instance-type', '--server-type', '--machine-type', '--plan', '--flavor'], ['size']),
  ...same(['-i', '--image-id'], ['image']),
  ...same(['-k', '--key', '--key-name'], ['ssh-keys']),
  ...same(['-u', '--url', '--api-url', '--endpoint', '--endpoint-url'], ['base-url']),
  ...same(['--color', '--colour', '--no-colour'], ['no-color']),
  ...same(['-?'], ['help']),
};

function same(flags: readonly string[], names: readonly string[]): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(flags.map((flag) => [flag, names]));
}

/** The hint about the option of a similar tool in a command that has these options. */
export function findSimilarOption(path: string, flag: string, names: readonly string[]): string | undefined {
  // After the name of a program `-v` asks for its version, after a command for more output.
  if (flag === '-v') return path.includes(' ') ? 'use `--trace`' : 'use `--version`';
  const similar = Object.hasOwn(similarOptions, flag) ? (similarOptions[flag] ?? []) : [];
  const found = similar.find((name) => names.includes(name));
  if (found !== undefined) return `use \`--${found}\``;
  const variable = similar.find((name) => /^[A-Z]/.test(name));
  return variable === undefined ? undefined : `set the environment variable ${variable}`;
}
