import { createInterface } from 'node:readline';
import { type KeychainEnvironment, readKeychainItem, removeKeychainItem, writeKeychainItem } from './keychain-items.ts';
import { type KeychainRequest, startedLine } from './keychain-wire.ts';

// On Windows a Ctrl-C reaches every process of the console, so the helper ignores it and the parent process handles it.
process.on('SIGINT', () => {});
// Without a listener, SIGUSR1 opens the debugger of Node on a local port.
process.on('SIGUSR1', () => {});

const [, , service] = process.argv;
const machine: KeychainEnvironment = {
  env: process.env,
  platform: process.platform,
  ...(service === undefined ? {} : { service }),
};

let current: KeychainRequest['operation'] | undefined;

/**
 * The helper program dist/keychain.cjs: reads requests from standard input and writes replies to standard output, one line of
 * JSON each, one request at a time. A keychain call can block forever and cannot be cancelled, but the helper process that
 * makes the call can be killed.
 */
createInterface({ input: process.stdin })
  .on('line', async (line) => {
    const request: KeychainRequest = JSON.parse(line);
    current = request.operation;
    process.stdout.write(`${startedLine}\n`);
    const reply = await perform(request);
    current = undefined;
    process.stdout.write(`${JSON.stringify(reply)}\n`);
  })
  .on('close', onParentEnd);

/** When the parent process ends, the helper cancels a read and allows a write 5 s to finish. */
function onParentEnd(): void {
  const end = (): void => void process.kill(process.pid, 'SIGKILL');
  if (current === 'read') end();
  else if (current !== undefined) setTimeout(end, 5_000).unref();
}

function perform(request: KeychainRequest): Promise<object> {
  switch (request.operation) {
    case 'read':
      return readKeychainItem(request.account, machine);
    case 'write':
      return writeKeychainItem(request.account, request.value, machine);
    case 'remove':
      return removeKeychainItem(request.account, machine);
    default:
      return request satisfies never;
  }
}
