import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { unsafeVariable } from '../../src/platform/unsafe-variable.ts';

describe('a setting of Node that gives secrets away', () => {
  it.each(['undici', 'fetch', 'http', 'net', 'timer,http', 'HTTP', 'fs,Net,tls', '*', 'ht*', 'stream'])(
    'is NODE_DEBUG=%s',
    (value) => {
      expect(unsafeVariable({ NODE_DEBUG: value })).toMatchObject({ variable: 'NODE_DEBUG', value });
    },
  );

  it.each([undefined, '', 'timer', 'fs,module', 'httpx', 'ne.'])('is not NODE_DEBUG=%s', (value) => {
    expect(unsafeVariable({ NODE_DEBUG: value })).toBeUndefined();
  });

  it.each(['net', 'NET', 'n*', 'fs,net', ' net', 'ne.'])('is seen when and only when Node sees it: %j', (value) => {
    const words = "const on = require('util').debuglog('net').enabled; console.log(on)";
    const seen = execFileSync(process.execPath, ['-e', words], { env: { NODE_DEBUG: value }, encoding: 'utf8' }).trim();
    expect(String(unsafeVariable({ NODE_DEBUG: value }) !== undefined)).toBe(seen);
  });

  it('is NODE_TLS_REJECT_UNAUTHORIZED=0 and no other value of it', () => {
    expect(unsafeVariable({ NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toMatchObject({
      variable: 'NODE_TLS_REJECT_UNAUTHORIZED',
      value: '0',
    });
    for (const value of ['1', '', 'false'])
      expect(unsafeVariable({ NODE_TLS_REJECT_UNAUTHORIZED: value })).toBeUndefined();
    expect(unsafeVariable({})).toBeUndefined();
  });
});
