#!/usr/bin/env node
const { existsSync } = require('node:fs');
const { join } = require('node:path');

// A clone has no dist until it is built.
if (existsSync(join(__dirname, '../dist/entry.cjs'))) require('../dist/entry.cjs');
else {
  process.stderr.write('error: cloudctl is not built\nhint: run `npm run build` in this clone\n');
  process.exitCode = 1;
}
