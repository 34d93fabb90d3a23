import { setTimeout as sleep } from 'node:timers/promises';
import type { Reply } from '../http/reply.ts';
import { DEEDS, type Ground } from './deeds.ts';
import type { Fault, FaultNote } from './fault.ts';

/** A request on its way, as far as a fault has to do with it. */
export interface Passage {
  readonly commit: () => Reply | Promise<Reply>;
  /** Enters the request into the log with what became of it. */
  readonly settle: (reply: Reply, note: FaultNote) => Reply;
  readonly ground: () => Ground;
  readonly closing: AbortSignal;
}

/** Logged as soon as its fate is known, so that who waits for the log learns of a commit before the answer is cut. */
export async function suffer(fault: Fault, passage: Passage): Promise<Reply> {
  const deed = DEEDS[fault.action];
  // A sandbox that closes cuts its connections; what waited until then is not carried out any more.
  if (deed.pauses === 'before' && !(await pause(fault, passage.closing))) return CUT;
  const reply = deed.commits ? deed.spoil(await passage.commit(), fault) : deed.answer(fault, passage.ground());
  const settled = passage.settle(reply, { fault: fault.action, committed: deed.commits });
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

const CUT: Reply = { status: 0, headers: {}, body: '', damage: { kind: 'drop' } };
