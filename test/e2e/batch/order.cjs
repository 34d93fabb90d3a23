// Loaded before the program (`node --require`): tells in which order it writes lines of a ledger, has them synced, and sends.
const fs = require('node:fs');
const { subscribe } = require('node:diagnostics_channel');
const { syncBuiltinESMExports } = require('node:module');
const { appendFileSync, fdatasync, writeSync } = fs;

const tell = (deed) => appendFileSync(process.env.TEST_ORDER, `${JSON.stringify(deed)}\n`);

fs.writeSync = (descriptor, data, ...rest) => {
  const written = writeSync(descriptor, data, ...rest);
  const lines = String(data)
    .split('\n')
    .filter((line) => line.startsWith('{"event":'));
  for (const line of lines) tell({ deed: 'written', line: JSON.parse(line) });
  return written;
};

let syncs = 0;
fs.fdatasync = (descriptor, done) => {
  syncs += 1;
  const sync = syncs;
  tell({ deed: 'syncing', sync });
  fdatasync(descriptor, (error) => {
    tell({ deed: 'synced', sync });
    done(error);
  });
};
syncBuiltinESMExports();

subscribe('undici:client:sendHeaders', ({ request }) => {
  if (request.method === 'POST') tell({ deed: 'sent', names: JSON.parse(request.body).names });
});
