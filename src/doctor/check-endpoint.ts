import { unreachableError } from '../api/client.ts';
import { type HttpSender, SendError } from '../platform/http-sender.ts';
import { timeoutSignal } from '../platform/timeout-signal.ts';
import type { DoctorFinding } from './doctor-finding.ts';

export interface CheckedEndpoint {
  readonly id: 'auth-url' | 'base-url';
  readonly origin: string;
  /** Asked with GET and without any credential. */
  readonly path: string;
}

export interface EndpointCheckDependencies {
  readonly send: HttpSender;
  readonly now: () => number;
  /** Milliseconds. */
  readonly timeout: number;
}

/** Seconds by which clocks may differ before a person should know. */
const toleratedSkewSeconds = 60;

/** Whether the origin answers at all; any status will do, since nothing was asked that it must grant. */
export async function checkEndpoint(
  endpoint: CheckedEndpoint,
  deps: EndpointCheckDependencies,
): Promise<readonly DoctorFinding[]> {
  const { id, origin, path } = endpoint;
  const asked = deps.now();
  try {
    const answer = await deps.send(`${origin}${path}`, {
      method: 'GET',
      headers: { accept: 'application/json, text/html;q=0.9' },
      signal: timeoutSignal(deps.timeout),
      redirect: 'manual',
    });
    const date = answer.headers.get('date');
    await answer.text();
    return [checkResponseStatus(endpoint, answer.status), ...checkClockSkew(id, date, asked, deps.now())];
  } catch (error) {
    if (!(error instanceof SendError)) throw error;
    return [{ id, status: 'failed', observed: `${origin}: ${error.message}`, ...hintOfSendError(error) }];
  }
}

function checkResponseStatus({ id, origin, path }: CheckedEndpoint, status: number): DoctorFinding {
  const observed = `${origin}${path} answered ${status}`;
  if (status >= 500) return { id, status: 'warning', observed, hint: 'the server is in trouble: try again later' };
  // The authorize endpoint without parameters is an error page; a redirect or a missing page is another server.
  if (status === 404 && id === 'auth-url')
    return { id, status: 'failed', observed, hint: 'check auth_url: `cloudctl config get auth_url`' };
  return { id, status: 'ok', observed };
}

/** The server's Date header against this machine's clock, with the answer's own travelling time on both sides. */
export function checkClockSkew(
  from: CheckedEndpoint['id'],
  date: string | null,
  asked: number,
  answered: number,
): readonly DoctorFinding[] {
  const id = from === 'auth-url' ? 'clock' : 'clock-of-base-url';
  const server = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(server)) return [{ id, status: 'skipped', observed: 'the answer has no Date header' }];
  // The header has whole seconds, cut off.
  const early = Math.round((asked - (server + 999)) / 1000);
  const late = Math.round((server - answered) / 1000);
  const skew = Math.max(early, late, 0);
  if (skew <= toleratedSkewSeconds)
    return [{ id, status: 'ok', observed: `within ${toleratedSkewSeconds} s of the server's` }];
  return [
    {
      id,
      status: 'warning',
      observed: `this machine is ${skew} s ${early > late ? 'ahead of' : 'behind'} the server`,
      hint: 'set the clock, for instance with `timedatectl set-ntp true`; a wrong one makes certificates invalid and sessions end at the wrong time',
    },
  ];
}

function hintOfSendError(error: SendError): { readonly hint?: string } {
  const { hint } = unreachableError(error);
  return hint === undefined ? {} : { hint };
}
