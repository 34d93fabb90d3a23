import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpReply } from '../http/http-reply.ts';
import type { Fault, FaultOutcome } from './fault.ts';
import { FAULT_ACTIONS, type FaultContext } from './fault-actions.ts';

/** A request on its way, as far as a fault has to do with it. */
export interface FaultedRequest {
  readonly commit: () => HttpReply | Promise<HttpReply>;
  /** Enters the request into the log with what became of it. */
  readonly log: (reply: HttpReply, note: FaultOutcome) => HttpReply;
  readonly context: () => FaultContext;
  readonly closing: AbortSignal;
}

/** Logged as soon as its fate is known, so that who waits for the log learns of a commit before the answer is cut. */
export async function applyFault(fault: Fault, passage: FaultedRequest): Promise<HttpReply> {
  const deed = FAULT_ACTIONS[fault.action];
  // A sandbox that closes cuts its connections; what waited until then is not carried out any more.
  if (deed.pauses === 'before' && !(await pause(fault, passage.closing))) return CUT;
  const reply = deed.commits ? deed.spoil(await passage.commit(), fault) : deed.answer(fault, passage.context());
  const settled = passage.log(reply, { fault: fault.action, committed: deed.commits });
  if (deed.pauses === 'after') await pause(fault, passage.closing);
  return settled;
}

/** In real time, because a client waits in real time; false when the sandbox closed meanwhile. */
async function pause({ delay }: Fault, signal: AbortSignal): Promise<boolean> {
  if (delay === undefined) return true;
  try {
    await sleep(delay, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}

const CUT: HttpReply = { status: 0, headers: {}, body: '', deliveryFault: { kind: 'drop' } };
