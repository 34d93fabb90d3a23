import { expect, it } from 'vitest';
import { Secret } from '../../../src/base/secret.ts';
import { manualCopyCommands } from '../../../src/db/source/words.ts';

it('names and databases with anything in them are words of a shell, and the password is not among them', () => {
  const source = {
    host: 'db.example.com',
    port: 5433,
    dbname: `My "d'b"; rm -rf $HOME`,
    username: 'mover',
    password: new Secret('hunter2'),
    ssl: 'require',
  } as const;
  const text = manualCopyCommands({ engine: 'postgresql', source });
  expect(text).toContain(
    `-h db.example.com -p 5433 -U mover -d postgresql:///My%20%22d%27b%22%3B%20rm%20%2Drf%20%24HOME `,
  );
  expect(text).not.toContain('hunter2');
});

it.each(['host=evil dbname=x', 'postgres://evil/x', '-x', 'a\nb'])('pg_dump reads the name %j as a name', (dbname) => {
  const source = { host: 'h', port: 5432, dbname, username: 'mover', password: undefined, ssl: 'require' } as const;
  const [, argument = ''] = / -d (\S+) /.exec(manualCopyCommands({ engine: 'postgresql', source })) ?? [];
  expect(decodeURIComponent(argument)).toBe(`postgresql:///${dbname}`);
});

it('Redis is asked over TLS when the source is', () => {
  const source = {
    host: 'h',
    port: 6379,
    username: undefined,
    password: undefined,
    db: undefined,
    ssl: 'require',
  } as const;
  expect(manualCopyCommands({ engine: 'redis', source })).toContain('redis-cli -h h -p 6379 --tls --rdb dump.rdb');
  expect(manualCopyCommands({ engine: 'redis', source: { ...source, ssl: 'disable' } })).not.toContain('--tls');
});
