import type { CliErrorCode } from '../base/errors.ts';

/** The meaning of each error code and what the user can do; used by `cloudctl help exit-codes` and docs/errors.md. */
export const cliErrorCodeMeanings: Readonly<Record<CliErrorCode, { readonly meaning: string; readonly fix: string }>> =
  {
    usage: {
      meaning: 'unknown command or option, wrong or missing value',
      fix: 'Correct the command line; `--help` shows the options.',
    },
    config_invalid: {
      meaning: 'config.json or a setting cannot be used',
      fix: 'Correct the named setting with `cloudctl config set`.',
    },
    profile_unknown: {
      meaning: 'there is no profile of this name',
      fix: 'List profiles with `cloudctl auth list`, or create one with `cloudctl auth setup`.',
    },
    not_logged_in: { meaning: 'the profile has no session', fix: 'Run `cloudctl auth login`.' },
    needs_login: { meaning: 'the session has ended and cannot be renewed', fix: 'Run `cloudctl auth login`.' },
    token_refused: {
      meaning: 'the server refused the access token',
      fix: 'Run `cloudctl auth login`, or correct CLOUDCTL_ACCESS_TOKEN.',
    },
    token_command_failed: {
      meaning: 'the program of token_command printed no access token',
      fix: 'Run `cloudctl doctor`, which shows what the program reports.',
    },
    scope_too_small: {
      meaning: 'the session has no write scope',
      fix: 'Run `cloudctl auth login --scope "read write"`.',
    },
    scope_mismatch: {
      meaning: 'the server granted another scope than requested',
      fix: 'Run `cloudctl auth login` and confirm the scope that is shown.',
    },
    access_denied: {
      meaning: 'the user denied the request',
      fix: 'Run `cloudctl auth login` again and authorize the application.',
    },
    consent_required: {
      meaning: 'the user must authorize the application',
      fix: 'Run `cloudctl auth login` without `--prompt none`.',
    },
    login_required: { meaning: 'the user must sign in', fix: 'Run `cloudctl auth login` without `--prompt none`.' },
    state_mismatch: {
      meaning: 'a redirect did not belong to this login',
      fix: 'Run `cloudctl auth login` again; close other login tabs.',
    },
    malformed_response: {
      meaning: 'the response of the authorization server violates the specification',
      fix: 'Check the auth URL of the profile.',
    },
    login_timeout: {
      meaning: 'the browser did not return to the callback URL in time',
      fix: 'Run `cloudctl auth login` again, or use `--paste`.',
    },
    invalid_grant: { meaning: 'the code or refresh token was refused', fix: 'Run `cloudctl auth login`.' },
    invalid_client: {
      meaning: 'the client ID or client secret was refused',
      fix: 'Correct the client ID or client secret with `cloudctl auth setup`.',
    },
    invalid_scope: { meaning: 'the server does not know the scope', fix: 'Use the scope `read` or `read write`.' },
    server_error: { meaning: 'the authorization server failed', fix: 'Try again later.' },
    temporarily_unavailable: { meaning: 'the authorization server is overloaded', fix: 'Try again later.' },
    port_in_use: {
      meaning: 'another program listens on the callback port',
      fix: 'End that program, or change the callback URL.',
    },
    keychain_unavailable: {
      meaning: 'the keychain cannot be used',
      fix: 'Unlock the keychain, or use `--credential-store file`; `cloudctl doctor` shows why.',
    },
    busy: {
      meaning: 'another process has locked a file of the profile, batch or migration',
      fix: 'Wait until the other process has ended, then run the command again.',
    },
    unreachable: { meaning: 'a server was not reached', fix: 'Check the address, the network and the proxy.' },
    tls: {
      meaning: 'the TLS connection failed',
      fix: 'Check the certificate; SSL_CERT_FILE and NODE_EXTRA_CA_CERTS add CA certificates.',
    },
    timeout: { meaning: 'a server did not answer in time', fix: 'Try again; `--timeout` changes the limit.' },
    rate_limited: {
      meaning: 'the rate limit is reached',
      fix: 'Wait as long as the error message says, then try again.',
    },
    api_error: { meaning: 'the resource API refused a request', fix: 'Follow the message of the API.' },
    not_found: {
      meaning: 'the resource does not exist in this account',
      fix: 'Check the ID and the account (`cloudctl auth status`).',
    },
    incomplete_list: { meaning: 'a list could not be read to its end', fix: 'Run the command again.' },
    query_failed: {
      meaning: 'the command was carried out, but --query, --json or --format cannot be applied to its result',
      fix: 'Correct the expression or the names. Do not repeat a change.',
    },
    batch_partial: {
      meaning: 'some droplets of a batch were not created, or it is unknown whether they were',
      fix: 'Run the `--resume` command that was printed.',
    },
    preflight_blocked: {
      meaning: 'the requested migration method is not possible',
      fix: 'Apply the fixes of the report.',
    },
    source_unreachable: {
      meaning: 'the source database was not reached',
      fix: 'Check host, port, user and password of the source.',
    },
    rehearsal_failed: {
      meaning: 'the rehearsal failed or found a difference',
      fix: 'Read the report; nothing was changed on the source.',
    },
    contents_differ: {
      meaning: 'source and target have different contents',
      fix: 'Read which tables or keys differ before the cut-over.',
    },
    contents_not_comparable: {
      meaning: 'some contents could not be compared',
      fix: 'Stop all writes to the source, wait until they are replicated, and compare again.',
    },
    inventory_incomplete: {
      meaning: 'some sources of an inventory could not be checked',
      fix: 'Read the reason of each in the report, and run the command again.',
    },
    cutover_incomplete: {
      meaning: 'some steps of the cut-over are not done',
      fix: 'Run the command of the next step that was printed.',
    },
    not_proven: {
      meaning: 'nothing shows which slot or replica belongs to the migration',
      fix: 'Name it with `--slot`.',
    },
    cancelled: { meaning: 'the user cancelled', fix: 'Run the command again.' },
    storage: {
      meaning:
        'a file of the program cannot be read or written: the file system is full, read-only, forbidden or broken',
      fix: 'Free disk space, or set CLOUDCTL_STATE_DIR or CLOUDCTL_CONFIG_DIR to a folder that you can write to.',
    },
    output: {
      meaning: 'standard output cannot be written',
      fix: 'Free space where the output is written, and run the command again.',
    },
    internal: { meaning: 'an error in the program itself', fix: 'Report the error with the output of `--trace`.' },
  };
