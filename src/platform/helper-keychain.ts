import type { Keychain, KeychainOptions, KeychainUnavailable } from './host.ts';
import type { HelperOptions, HelperProcess } from './keychain-helper.ts';
import type { KeychainReply, KeychainRequest } from './keychain-wire.ts';
import { runningTimeout } from './waiting.ts';

/** The keychain of the operating system, accessed in a helper process that is killed when it does not reply in time. */
export function helperKeychain(helper: HelperOptions): Keychain {
  return {
    open(options) {
      let child: HelperProcess | undefined;
      let turn: Promise<unknown> = Promise.resolve();
      let isReported = false;
      const onWaiting = () => {
        if (!isReported) options.onWaiting?.();
        isReported = true;
      };
      // Keychain operations run one after the other, so that each has its full time limit.
      const send = (request: KeychainRequest): Promise<KeychainReply> => {
        const reply = turn.then(async () => {
          if (child?.isAlive() !== true) {
            const { startHelper } = await import('./keychain-helper.ts');
            child = startHelper({ ...helper, inherits: options.lockDescriptor });
          }
          return perform(child, request, {
            timeoutMs: options.timeoutMs,
            starting: helper.starting ?? 10_000,
            onWaiting,
          });
        });
        turn = reply.catch(() => {});
        return reply;
      };
      return {
        async read(account) {
          const reply = await send({ operation: 'read', account });
          return reply.kind === 'done' ? unexpectedReply : reply;
        },
        async write(account, value) {
          const reply = await send({ operation: 'write', account, value });
          return reply.kind === 'done' || reply.kind === 'unavailable' ? reply : unexpectedReply;
        },
        async remove(account) {
          const reply = await send({ operation: 'remove', account });
          return reply.kind === 'done' || reply.kind === 'unavailable' ? reply : unexpectedReply;
        },
        async close() {
          await turn;
          await child?.end();
        },
      };
    },
  };
}

const unexpectedReply: KeychainUnavailable = {
  kind: 'unavailable',
  why: 'failed',
  reason: 'the keychain helper sent a reply to another request',
};

async function perform(
  child: HelperProcess,
  request: KeychainRequest,
  {
    timeoutMs: limit,
    starting,
    onWaiting,
  }: Required<Pick<KeychainOptions, 'timeoutMs' | 'onWaiting'> & Pick<HelperOptions, 'starting'>>,
): Promise<KeychainReply> {
  const waiting = setTimeout(onWaiting, 1000);
  let current: AbortSignal | undefined;
  let late: NodeJS.Timeout | undefined;
  let onBegun = (): void => {};
  const tooLate = new Promise<KeychainUnavailable>((resolve) => {
    const allow = (ms: number, reason: string): void => {
      const hung = (): void => resolve({ kind: 'unavailable', why: 'hung', reason });
      // The time limit counts only time in which this process could run, because under high load the keychain also replies
      // slowly.
      const running = runningTimeout(ms, ms / 100);
      current = running;
      running.addEventListener('abort', () => {
        if (current === running) hung();
      });
      clearTimeout(late);
      late = setTimeout(hung, 10 * ms);
    };
    // Under high load, starting the helper process may take longer than the reply of the keychain.
    allow(Math.max(limit, starting), 'the keychain helper did not start in time');
    onBegun = () => allow(limit, `the keychain did not answer within ${limit / 1000} s`);
  });
  try {
    const reply = await Promise.race([child.request(request, onBegun), tooLate]);
    // The helper process has ended before this function returns, so the caller can then release its lock.
    if (reply.kind === 'unavailable' && reply.why === 'hung') await child.kill();
    return reply;
  } finally {
    clearTimeout(waiting);
    clearTimeout(late);
    current = undefined;
  }
}
