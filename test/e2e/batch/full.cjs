// Loaded before the program (`node --require`): half of the first text with TEST_FULL_AT in it has room on the disk, and nothing after it.
const fs = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');
const { writeSync } = fs;

let isFull = false;

fs.writeSync = (descriptor, data, ...rest) => {
  if (isFull) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  if (!String(data).includes(process.env.TEST_FULL_AT)) return writeSync(descriptor, data, ...rest);
  isFull = true;
  const bytes = Buffer.from(data);
  return writeSync(descriptor, bytes.subarray(0, bytes.length / 2));
};
syncBuiltinESMExports();
