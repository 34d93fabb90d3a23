import { expect, test } from 'vitest';
import { lacksLibrary } from '../../../../src/db/preflight/postgresql/checks/untrusted-lang.ts';

const offered = ['pgcrypto', 'postgis', 'intarray', 'plperl'];

test.each([
  { library: '$libdir/pgcrypto', lacking: false },
  { library: 'pgcrypto', lacking: false },
  { library: '$libdir/postgis-3', lacking: false },
  { library: '$libdir/_int', lacking: false },
  { library: '$libdir/plperl.so', lacking: false },
  { library: '$libdir/plpgsql', lacking: false },
  { library: '$libdir/utf8_and_johab', lacking: false },
  { library: '$libdir/adminpack', lacking: true },
  { library: '$libdir/own/code', lacking: true },
  { library: '/opt/own/code.so', lacking: true },
])('$library is lacking on a target with these extensions: $lacking', ({ library, lacking }) => {
  expect(lacksLibrary(library, offered)).toBe(lacking);
});
