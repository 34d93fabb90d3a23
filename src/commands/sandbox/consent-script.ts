import { createSandboxAdminApi } from '../../api/sandbox-admin.ts';
import { CliError, usageError } from '../../errors.ts';
import type { HttpSender } from '../../platform/http-sender.ts';

/** Tells a running sandbox how its consent page is answered, after a reset as well: `approve EMAIL [TEAM]`, `deny` or `ask`. */
export async function setConsentScript(
  send: HttpSender,
  { admin_url, admin_token }: { readonly admin_url: string; readonly admin_token: string },
  script: string,
): Promise<void> {
  const [mode = '', user, ...words] = script.trim().split(/\s+/);
  const team = words.join(' ');
  const body = { mode, lasting: true, ...(user === undefined ? {} : { user }), ...(team === '' ? {} : { team }) };
  // Its own token: the environment may still hold that of another sandbox.
  const admin = createSandboxAdminApi(send, admin_url, admin_token);
  try {
    await admin.call('POST', '/consent', body);
  } catch (error) {
    if (!(error instanceof CliError) || error.status !== 422) throw error;
    throw usageError(
      '--consent is not a script of this sandbox',
      'as in `--consent "approve maya@example.com"`; `cloudctl sandbox start` prints its people',
      error.detail,
    );
  }
}
