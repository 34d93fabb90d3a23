import type { Keychain, KeychainOptions, KeychainUnavailable } from './host.ts';
import type { KeychainHelper, KeychainHelperOptions } from './keychain-helper.ts';
import type { KeychainReply, KeychainRequest } from './keychain-wire.ts';
import { timeoutWhileRunning } from './timeout-while-running.ts';

/** The operating system's keychain, asked by a helper process that is killed when it does not answer in time. */
export function createHelperKeychain(helper: KeychainHelperOptions): Keychain {
  return {
    open(options) {
      let child: KeychainHelper | undefined;
      let turn: Promise<unknown> = Promise.resolve();
      let told = false;
      const onWaiting = () => {
        if (!told) options.onWaiting?.();
        told = true;
      };
      // One at a time, so that the limit of an operation is its own.
      const ask = (request: KeychainRequest): Promise<KeychainReply> => {
        const answer = turn.then(async () => {
          if (child?.isAlive() !== true) {
            const { startKeychainHelper } = await import('./keychain-helper.ts');
            child = startKeychainHelper({ ...helper, inherits: options.lockDescriptor });
          }
          return perform(child, request, {
            timeoutMs: options.timeoutMs,
            starting: helper.starting ?? 10_000,
            onWaiting,
          });
        });
        turn = answer.catch(() => {});
        return answer;
      };
      return {
        async read(account) {
          const reply = await ask({ operation: 'read', account });
          return reply.kind === 'done' ? unexpectedReply : reply;
        },
        async write(account, value) {
          const reply = await ask({ operation: 'write', account, value });
          return reply.kind === 'done' || reply.kind === 'unavailable' ? reply : unexpectedReply;
        },
        async remove(account) {
          const reply = await ask({ operation: 'remove', account });
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
  reason: 'the keychain helper gave an answer to another question',
};

async function perform(
  child: KeychainHelper,
  request: KeychainRequest,
  {
    timeoutMs: limit,
    starting,
    onWaiting,
  }: Required<Pick<KeychainOptions, 'timeoutMs' | 'onWaiting'> & Pick<KeychainHelperOptions, 'starting'>>,
): Promise<KeychainReply> {
  const waiting = setTimeout(onWaiting, 1000);
  let current: AbortSignal | undefined;
  let late: NodeJS.Timeout | undefined;
  let onBegun = (): void => {};
  const tooLate = new Promise<KeychainUnavailable>((resolve) => {
    const allow = (ms: number, reason: string): void => {
      const hung = (): void => resolve({ kind: 'unavailable', why: 'hung', reason });
      // Where this process hardly comes to run the keychain does not either: fifty at once on two processors are no hung one.
      const running = timeoutWhileRunning(ms, ms / 100);
      current = running;
      running.addEventListener('abort', () => {
        if (current === running) hung();
      });
      clearTimeout(late);
      late = setTimeout(hung, 10 * ms);
    };
    // On a machine with much to do the helper may take longer to start than a keychain to answer.
    allow(Math.max(limit, starting), 'the keychain helper did not start in time');
    onBegun = () => allow(limit, `the keychain did not answer within ${limit / 1000} s`);
  });
  try {
    const reply = await Promise.race([child.request(request, onBegun), tooLate]);
    // Reaped before the answer is given: whoever holds a lock for this operation may free it then.
    if (reply.kind === 'unavailable' && reply.why === 'hung') await child.kill();
    return reply;
  } finally {
    clearTimeout(waiting);
    clearTimeout(late);
    current = undefined;
  }
}
