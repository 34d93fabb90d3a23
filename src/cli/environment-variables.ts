export interface EnvironmentVariableSpec {
  readonly name: string;
  readonly description: string;
  /** Names of the commands or groups that read the variable; absent when every command reads it. */
  readonly commands?: readonly string[];
}

const login = ['auth setup', 'auth login'];
const sourceCommands = ['preflight', 'migrate', 'watch', 'cutover', 'rehearse', 'compare', 'sequences'].map(
  (name) => `db ${name}`,
);
const adminCommands = ['env', 'clock', 'faults', 'requests', 'token', 'snapshot', 'restore', 'reset'].map(
  (name) => `sandbox ${name}`,
);

/** The environment variables of the program, for help and reference pages (precedence: option > environment > profile > default). */
export const environmentVariableSpecs: readonly EnvironmentVariableSpec[] = [
  { name: 'CLOUDCTL_PROFILE', description: 'same as --profile' },
  { name: 'CLOUDCTL_OUTPUT', description: 'same as --output' },
  { name: 'CLOUDCTL_AUTH_URL', description: 'same as --auth-url' },
  { name: 'CLOUDCTL_BASE_URL', description: 'same as --base-url' },
  { name: 'CLOUDCTL_CLIENT_ID', description: 'client ID of the registered application', commands: login },
  { name: 'CLOUDCTL_CLIENT_SECRET', description: 'client secret of the registered application', commands: login },
  { name: 'CLOUDCTL_CALLBACK_URL', description: 'callback URL of the registered application', commands: login },
  { name: 'CLOUDCTL_SCOPE', description: 'scope to request: read or "read write"', commands: login },
  { name: 'CLOUDCTL_FLOW', description: 'authorization flow: code or implicit', commands: login },
  {
    name: 'CLOUDCTL_TOKEN_PARAMS',
    description: 'where the token endpoint reads its parameters: query, body or basic',
    commands: login,
  },
  {
    name: 'CLOUDCTL_ACCESS_TOKEN',
    description: 'access token to use instead of token_command or the stored session; ignored with --profile',
  },
  { name: 'CLOUDCTL_CREDENTIAL_STORE', description: 'credential store: keychain or file' },
  { name: 'CLOUDCTL_CONFIG_DIR', description: 'folder of config.json' },
  { name: 'CLOUDCTL_STATE_DIR', description: 'folder for locks, sessions in files, batch ledgers and baselines' },
  {
    name: 'CLOUDCTL_CODE_CACHE',
    description: 'whether starts keep compiled code in the state folder: on or off (default: on, off in CI)',
  },
  { name: 'CLOUDCTL_SOURCE', description: 'same as --source', commands: sourceCommands },
  { name: 'CLOUDCTL_REHEARSE_INTO', description: 'same as --into', commands: ['db rehearse'] },
  {
    name: 'CLOUDCTL_REHEARSE_INTO_PASSWORD',
    description: 'password for the server that --into names',
    commands: ['db rehearse'],
  },
  { name: 'CLOUDCTL_TARGET', description: 'same as --target', commands: ['db cutover', 'db compare'] },
  {
    name: 'CLOUDCTL_TARGET_PASSWORD',
    description: 'password for the server that --target names',
    commands: ['db cutover', 'db compare'],
  },
  {
    name: 'CLOUDCTL_CLUSTER_NAME',
    description: 'same as --cluster name=URL, hidden from other users of this machine',
    commands: ['sandbox start'],
  },
  { name: 'CLOUDCTL_SANDBOX_ADMIN_URL', description: 'same as --admin-url', commands: adminCommands },
  { name: 'CLOUDCTL_SANDBOX_ADMIN_TOKEN', description: 'admin token of the sandbox', commands: adminCommands },
  { name: 'HTTPS_PROXY, HTTP_PROXY, NO_PROXY', description: 'proxy for HTTP requests, and hosts that bypass it' },
  { name: 'SSL_CERT_FILE', description: 'CA certificates (PEM file) used instead of those of the system' },
  { name: 'NODE_EXTRA_CA_CERTS', description: 'additional CA certificates (PEM file)' },
  {
    name: 'NO_COLOR, FORCE_COLOR, CI, BROWSER',
    description: 'set colour, CI mode and the browser as in other programs',
  },
  {
    name: 'PAGER',
    description: 'command that shows output longer than the screen; empty for none (default: less)',
  },
  {
    name: 'PGPASSWORD, PGPASSFILE, REDISCLI_AUTH',
    description: 'password of the source database',
    commands: [...sourceCommands, 'db inventory'],
  },
];

/** The environment variables of the command or group that the words name; without words, all variables. */
export function selectEnvironmentVariableSpecs(words: readonly string[]): readonly EnvironmentVariableSpec[] {
  if (words.length === 0) return environmentVariableSpecs;
  const path = words.join(' ');
  return environmentVariableSpecs.filter(({ commands = [] }) =>
    commands.some((command) => path === command || path.startsWith(`${command} `)),
  );
}
