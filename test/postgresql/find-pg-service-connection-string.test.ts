import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import {
  convertPgService,
  findPgService,
  parseConnectionString,
  quoteConnectionValue,
} from '../../src/postgresql/connection-string.ts';

const text = `# services
[shop]
host = db1.example.com
port=5433
user=mover
password=it's a \\ secret

[billing]
host=db2.example.com
[shop]
host=later.example.com
`;

it('a service is the connection string of its first section', () => {
  const found = convertPgService(text, 'shop') ?? '';
  expect(Object.fromEntries(parseConnectionString(found, 'x'))).toEqual({
    host: 'db1.example.com',
    port: '5433',
    user: 'mover',
    password: "it's a \\ secret",
  });
  expect(convertPgService(text, 'SHOP')).toBeUndefined();
  expect(convertPgService('[a]\n[b]\nhost=h', 'a')).toBe('');
});

it('the file of PGSERVICEFILE comes before that of PGSYSCONFDIR', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cloudctl-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'own'), '[a]\nhost=own');
  writeFileSync(join(folder, '.pg_service.conf'), '[a]\nhost=home');
  writeFileSync(join(folder, 'pg_service.conf'), '[a]\nhost=all\n[b]\nhost=all');
  const env = { PGSERVICEFILE: join(folder, 'own'), PGSYSCONFDIR: folder, HOME: folder };
  expect(findPgService('a', env)).toBe("host='own'");
  expect(findPgService('b', env)).toBe("host='all'");
  expect(findPgService('a', { HOME: folder })).toBe("host='home'");
  expect(findPgService('a', {})).toBeUndefined();
});

it('a quoted value is read back as it was', () => {
  for (const value of ['', 'a b', "'", '\\', "\\'", 'x=y'])
    expect(parseConnectionString(`host=${quoteConnectionValue(value)}`, 'x').get('host') ?? '').toBe(value);
});
