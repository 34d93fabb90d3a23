export interface VariableSpec {
  readonly name: string;
  readonly description: string;
}

/** The variables the program reads (contract: option > environment > profile > default), for help and documentation. */
export const environmentVariables: readonly VariableSpec[] = [
  { name: 'CLOUDCTL_PROFILE', description: 'as --profile' },
  { name: 'CLOUDCTL_OUTPUT', description: 'as --output' },
  { name: 'CLOUDCTL_AUTH_URL', description: 'as --auth-url' },
  { name: 'CLOUDCTL_BASE_URL', description: 'as --base-url' },
  { name: 'CLOUDCTL_CLIENT_ID', description: 'client ID of the registered application' },
  { name: 'CLOUDCTL_CLIENT_SECRET', description: 'its client secret' },
  { name: 'CLOUDCTL_CALLBACK_URL', description: 'its callback URL' },
  { name: 'CLOUDCTL_SCOPE', description: 'scope to ask for: read, or "read write"' },
  { name: 'CLOUDCTL_FLOW', description: 'code or implicit' },
  { name: 'CLOUDCTL_TOKEN_PARAMS', description: 'query, body or basic: where the token endpoint reads its parameters' },
  { name: 'CLOUDCTL_ACCESS_TOKEN', description: 'an access token to use instead of the stored one' },
  { name: 'CLOUDCTL_CREDENTIAL_STORE', description: 'keychain or file' },
  { name: 'CLOUDCTL_CONFIG_DIR', description: 'folder of config.json' },
  { name: 'CLOUDCTL_STATE_DIR', description: 'folder of locks, ledgers and baselines' },
  { name: 'CLOUDCTL_SOURCE', description: 'as --source of the db commands' },
  { name: 'CLOUDCTL_REHEARSE_INTO', description: 'as --into of db rehearse' },
  { name: 'CLOUDCTL_REHEARSE_INTO_PASSWORD', description: 'password of that server' },
  { name: 'CLOUDCTL_CLUSTER_NAME', description: 'as --cluster name=URL of sandbox start, without showing it' },
  { name: 'CLOUDCTL_SANDBOX_ADMIN_URL', description: 'where the sandbox commands find the sandbox' },
  { name: 'CLOUDCTL_SANDBOX_ADMIN_TOKEN', description: 'the admin token of the sandbox' },
  { name: 'HTTPS_PROXY, HTTP_PROXY, NO_PROXY', description: 'the proxy to the servers, and where it is not used' },
  { name: 'NODE_EXTRA_CA_CERTS', description: 'file of further authorities for certificates' },
  { name: 'NO_COLOR, FORCE_COLOR, CI, BROWSER', description: 'mean what they mean elsewhere' },
  { name: 'PGPASSWORD, PGPASSFILE, REDISCLI_AUTH', description: 'password of a source database' },
];
