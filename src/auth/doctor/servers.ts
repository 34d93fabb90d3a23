import { unansweredError } from '../../api/client.ts';
import { CliError } from '../../base/errors.ts';
import { countOf } from '../../base/text.ts';
import { type HttpSender, SendError } from '../../platform/http-sender.ts';
import type { Trust } from '../../platform/trust.ts';
import { timeoutSignal } from '../../platform/waiting.ts';
import { type Finding, failedFinding } from './finding.ts';

export interface Endpoint {
  readonly id: 'auth-url' | 'base-url';
  readonly origin: string;
  /** What to do when the server cannot be reached. */
  readonly unreachable: string;
  /** The command that shows auth_url of the profile, in backquotes. */
  readonly check: string;
  /** The path that the check requests with GET and without credentials. */
  readonly path: string;
}

interface EndpointOptions {
  readonly send: HttpSender;
  readonly now: () => number;
  /** Milliseconds. */
  readonly timeout: number;
}

/** The tolerated difference of the clocks in seconds; a larger difference is a warning. */
const toleratedSkewSeconds = 60;

/**
 * Checks whether the server at the origin responds. Nearly every status counts as success, because the request has no
 * credentials.
 */
export async function checkEndpoint(endpoint: Endpoint, deps: EndpointOptions): Promise<readonly Finding[]> {
  const { id, origin, path } = endpoint;
  const sentAt = deps.now();
  try {
    const response = await deps.send(`${origin}${path}`, {
      method: 'GET',
      headers: { accept: 'application/json, text/html;q=0.9' },
      signal: timeoutSignal(deps.timeout),
      redirect: 'manual',
    });
    const date = response.headers.get('date');
    await response.text();
    return [checkResponseStatus(endpoint, response.status), ...checkClockSkew(id, date, sentAt, deps.now())];
  } catch (error) {
    // The setting that prevents the request is a finding of its own.
    if (error instanceof CliError && error.code === 'config_invalid')
      return [{ id, status: 'skipped', observed: `${origin}: ${error.message}` }];
    if (!(error instanceof SendError)) throw error;
    return [
      {
        id,
        status: 'failed',
        observed: `${origin}: ${error.message}`,
        ...hintOfSendError(error, endpoint.unreachable),
      },
    ];
  }
}

/** Which CA certificates were trusted beside those of Node.js; nothing if none were named or needed. */
export function checkTrust(trust: Trust): readonly Finding[] {
  const id = 'certificates';
  try {
    const named = trust.named();
    const { added = named } = trust;
    if (added === undefined) return [];
    const use =
      trust.added === undefined ? 'not needed by these servers' : 'Node.js does not know a CA of these servers';
    const observed = `${added.source} adds ${countOf(added.count, 'CA certificate')}: ${use}`;
    return [{ id, status: 'ok', observed }];
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return [failedFinding(id, error)];
  }
}

function checkResponseStatus({ id, origin, path, check }: Endpoint, status: number): Finding {
  const observed = `${origin}${path} responded with status ${status}`;
  if (status >= 500)
    return { id, status: 'warning', observed, hint: 'the server has an internal error: try again later' };
  // The authorize endpoint without parameters responds with an error page; a 404 means that the origin is another server.
  if (status === 404 && id === 'auth-url') return { id, status: 'failed', observed, hint: `check auth_url: ${check}` };
  return { id, status: 'ok', observed };
}

/** Compares the Date header with this machine's clock; the times of the request and the response limit the possible difference. */
export function checkClockSkew(
  from: Endpoint['id'],
  date: string | null,
  sentAt: number,
  receivedAt: number,
): readonly Finding[] {
  const id = from === 'auth-url' ? 'clock' : 'clock-of-base-url';
  const server = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(server)) return [{ id, status: 'skipped', observed: 'the response has no Date header' }];
  // The Date header has whole seconds, rounded down.
  const early = Math.round((sentAt - (server + 999)) / 1000);
  const late = Math.round((server - receivedAt) / 1000);
  const skew = Math.max(early, late, 0);
  if (skew <= toleratedSkewSeconds)
    return [{ id, status: 'ok', observed: `the clocks differ by less than ${toleratedSkewSeconds} s` }];
  return [
    {
      id,
      status: 'warning',
      observed: `the clock of this machine is ${skew} s ${early > late ? 'ahead of' : 'behind'} the server's`,
      hint: 'set the clock, for example with `timedatectl set-ntp true`',
    },
  ];
}

function hintOfSendError(error: SendError, unreachable: string): { readonly hint?: string } {
  const { hint } = unansweredError(error, unreachable);
  return hint === undefined ? {} : { hint };
}
