import { describe, expect, it } from 'vitest';
import { readSarifUri } from '../../../../src/db/preflight/run-with-files.ts';
import { argsFrom } from '../../../fixtures/command-io.ts';

function read(uri: string, report = 'r.SARIF'): string | undefined {
  return readSarifUri(argsFrom({ 'sarif-uri': [uri], report: ['r.json', report] }));
}

describe('--sarif-uri', () => {
  it('is absent unless it is typed', () => expect(readSarifUri(argsFrom({}))).toBeUndefined());

  it.each(['db/schema.sql', 'README.md', 'a%20b/c.sql', '.github/workflows/ci.yml', 'a..b'])('can be %s', (uri) =>
    expect(read(uri)).toBe(uri),
  );

  it.each([
    '',
    '/etc/passwd',
    '../up.sql',
    'a/./b',
    'a//b',
    'a/',
    'file:///a.sql',
    'https://example.com/a.sql',
    'C:\\a.sql',
    'a b.sql',
    'a\n.sql',
    'a%2.sql',
    'a.sql#L3',
    'ä.sql',
  ])('cannot be %j', (uri) => expect(() => read(uri)).toThrow(expect.objectContaining({ code: 'usage' })));

  it('is refused without a SARIF report', () =>
    expect(() => read('db/schema.sql', 'r.xml')).toThrow(expect.objectContaining({ code: 'usage' })));
});
