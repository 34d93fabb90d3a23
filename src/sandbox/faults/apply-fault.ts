import { setTimeout as sleep } from 'node:timers/promises';
import type { SandboxHttpReply } from '../http/http-reply.ts';
import { type Fault, type FaultLogFields, isHandlerInputAlteringFaultAction } from './fault.ts';
import { FAULT_ACTIONS, type FaultContext } from './fault-actions.ts';

/** A request to which a fault applies. */
export interface FaultedRequest {
  /** Checks the credentials of the request; the returned function runs the handler. */
  readonly admit: () => () => SandboxHttpReply | Promise<SandboxHttpReply>;
  /** Adds the request to the request log. */
  readonly log: (reply: SandboxHttpReply, note: FaultLogFields) => SandboxHttpReply;
  readonly context: () => FaultContext;
  readonly closing: AbortSignal;
}

/** Logs the request before the final delay, so that a client sees the commit in the request log before the reply is lost. */
export async function applyFault(fault: Fault, request: FaultedRequest): Promise<SandboxHttpReply> {
  if (isHandlerInputAlteringFaultAction(fault.action))
    return request.log(await request.admit()(), { fault: fault.action, committed: true });
  const action = FAULT_ACTIONS[fault.action];
  if (action.commits === 'late') {
    void commitLate(fault, request);
    return DROPPED;
  }
  // When the sandbox closes, requests that are still delayed are not processed.
  if (action.pauses === 'before' && !(await pause(fault, request.closing))) return DROPPED;
  const reply = action.commits ? action.change(await request.admit()(), fault) : action.reply(fault, request.context());
  const logged = request.log(reply, { fault: fault.action, committed: action.commits });
  if (action.pauses === 'after') await pause(fault, request.closing);
  return logged;
}

/**
 * The access token is checked when the request arrives and not again after the delay, as in a server that processes requests
 * late.
 */
async function commitLate(fault: Fault, request: FaultedRequest): Promise<void> {
  const commit = request.admit();
  if (await pause(fault, request.closing))
    request.log({ ...(await commit()), ...NO_DELIVERY }, { fault: fault.action, committed: true });
}

/**
 * Delays a request in real time, because clients wait in real time; resolves with false when the sandbox closes before the end
 * of the delay.
 */
async function pause({ delay }: Fault, signal: AbortSignal): Promise<boolean> {
  if (delay === undefined) return true;
  try {
    await sleep(delay, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}

const NO_DELIVERY = { deliveryFault: { kind: 'drop' } } as const;
const DROPPED: SandboxHttpReply = { status: 0, headers: {}, body: '', ...NO_DELIVERY };
