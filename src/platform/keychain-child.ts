import { createInterface } from 'node:readline';
import { readKeychainItem, removeKeychainItem, writeKeychainItem } from './keychain-items.ts';
import { type KeychainRequest, operationStartedLine } from './keychain-wire.ts';

// On Windows a Ctrl-C reaches every process of the console; the parent decides what it means.
process.on('SIGINT', () => {});

let under: KeychainRequest['operation'] | undefined;

/**
 * A program of its own, dist/keychain.cjs: one line of JSON a request on standard input, one a reply on standard
 * output, one request at a time. A call of the keychain can block for ever and cannot be ended from inside, but this
 * process can be killed.
 */
createInterface({ input: process.stdin })
  .on('line', async (line) => {
    const request: KeychainRequest = JSON.parse(line);
    under = request.operation;
    process.stdout.write(`${operationStartedLine}\n`);
    const reply = await perform(request);
    under = undefined;
    process.stdout.write(`${JSON.stringify(reply)}\n`);
  })
  .on('close', outlived);

/** The parent has gone. A read is for nobody now; a write gets the time to land that a person gets to unlock. */
function outlived(): void {
  const end = (): void => void process.kill(process.pid, 'SIGKILL');
  if (under === 'read') end();
  else if (under !== undefined) setTimeout(end, 5_000).unref();
}

function perform(request: KeychainRequest): Promise<object> {
  switch (request.operation) {
    case 'read':
      return readKeychainItem(request.account, process);
    case 'write':
      return writeKeychainItem(request.account, request.value, process);
    case 'remove':
      return removeKeychainItem(request.account, process);
    default:
      return request satisfies never;
  }
}
