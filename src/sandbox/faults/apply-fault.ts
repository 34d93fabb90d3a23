import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpReply } from '../http/http-reply.ts';
import type { Fault, FaultOutcome } from './fault.ts';
import { FAULT_ACTIONS, type FaultContext } from './fault-actions.ts';

/** A request with a fault. */
export interface FaultedRequest {
  /** Runs the handler. */
  readonly commit: () => HttpReply | Promise<HttpReply>;
  /** Adds the request to the request log. */
  readonly log: (reply: HttpReply, note: FaultOutcome) => HttpReply;
  readonly context: () => FaultContext;
  readonly closing: AbortSignal;
}

/** Logs the request before the final delay, so that a client of the request log sees the commit before the reply is lost. */
export async function applyFault(fault: Fault, request: FaultedRequest): Promise<HttpReply> {
  const action = FAULT_ACTIONS[fault.action];
  // A sandbox that closes does not handle the requests that are still delayed.
  if (action.pauses === 'before' && !(await pause(fault, request.closing))) return DROPPED;
  const reply = action.commits ? action.change(await request.commit(), fault) : action.reply(fault, request.context());
  const logged = request.log(reply, { fault: fault.action, committed: action.commits });
  if (action.pauses === 'after') await pause(fault, request.closing);
  return logged;
}

/** In real time, because clients wait in real time; false when the sandbox closed before the end. */
async function pause({ delay }: Fault, signal: AbortSignal): Promise<boolean> {
  if (delay === undefined) return true;
  try {
    await sleep(delay, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}

const DROPPED: HttpReply = { status: 0, headers: {}, body: '', deliveryFault: { kind: 'drop' } };
