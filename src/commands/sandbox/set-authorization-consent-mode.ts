import { createSandboxAdminClient } from '../../api/sandbox-admin.ts';
import { CliError, usageError } from '../../base/errors.ts';
import type { HttpSender } from '../../platform/http-sender.ts';

/** Sets how the consent page of a running sandbox responds, also after a reset: `approve EMAIL [TEAM]`, `deny` or `ask`. */
export async function setAuthorizationConsentMode(
  send: HttpSender,
  { admin_url, admin_token }: { readonly admin_url: string; readonly admin_token: string },
  script: string,
): Promise<void> {
  const [mode = '', user, ...args] = script.trim().split(/\s+/);
  const team = args.join(' ');
  const body = { mode, lasting: true, ...(user === undefined ? {} : { user }), ...(team === '' ? {} : { team }) };
  // The admin token of this sandbox is used, because the environment may contain the token of another one.
  const admin = createSandboxAdminClient(send, admin_url, admin_token);
  try {
    await admin.call('POST', '/consent', body);
  } catch (error) {
    if (!(error instanceof CliError) || error.status !== 422) throw error;
    throw usageError(
      '--consent is not a valid consent script',
      'use a form such as `--consent "approve maya@example.com"`; `cloudctl sandbox start` prints the users',
      error.detail,
    );
  }
}
