import { CliError } from '../base/errors.ts';
import { isJsonRecord, readStringField, tryParseJson } from '../base/json.ts';
import { type HttpSender, readBody, SendError } from '../platform/http-sender.ts';
import { timeoutSignal } from '../platform/waiting.ts';

export interface AdminApi {
  /** The decoded response body; undefined for a response without a body. */
  call(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<unknown>;
}

/** A client for the admin API of a running sandbox (`/_sandbox/*`). */
export function adminClient(send: HttpSender, adminUrl: string, adminToken: string): AdminApi {
  return {
    call: async (method, path, body) => {
      try {
        const answer = await send(`${adminUrl}/_sandbox${path}`, {
          method,
          headers: {
            'x-admin-token': adminToken,
            accept: 'application/json',
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          // The sandbox responds to `sandbox requests --wait` within 30 s.
          signal: timeoutSignal(40_000),
          redirect: 'manual',
        });
        const text = (await readBody(answer, 64 * 1024 * 1024)) ?? '';
        const json = text === '' ? undefined : tryParseJson(text);
        if (answer.status < 200 || answer.status >= 300)
          throw refusedError(answer.status, json?.ok === true ? json.value : undefined);
        if (json?.ok === false)
          throw new CliError('api_error', `could not parse the response of ${adminUrl}: it ${json.reason}`, {
            hint: 'start a sandbox with `cloudctl sandbox start`',
          });
        return json?.value;
      } catch (error) {
        if (!(error instanceof SendError)) throw error;
        const isTls = error.kind === 'tls';
        throw new CliError(isTls ? 'tls' : 'unreachable', `could not reach the sandbox: ${error.message}`, {
          detail: adminUrl,
          hint:
            error.hint ??
            (isTls
              ? 'start the sandbox with a certificate that names its host, or with `--host` and a name of the certificate'
              : 'start a sandbox with `cloudctl sandbox start`'),
        });
      }
    },
  };
}

function refusedError(status: number, body: unknown): CliError {
  const message = isJsonRecord(body) ? readStringField(body, 'message') : undefined;
  return new CliError('api_error', `the sandbox responded with ${status}`, {
    detail: message,
    hint:
      status === 401 || status === 403
        ? 'set CLOUDCTL_SANDBOX_ADMIN_TOKEN to the admin token of this sandbox'
        : undefined,
    status,
  });
}
