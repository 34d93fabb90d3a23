import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CliError } from '../../src/errors.ts';
import { type PostgresqlSourceOptions, parsePostgresqlSource } from '../../src/postgresql/source.ts';

const none = () => undefined;
const read = (words: PostgresqlSourceOptions) => parsePostgresqlSource(words, none);
const url = (source: string, more: PostgresqlSourceOptions = {}) => read({ source, ...more });

function refusal(words: PostgresqlSourceOptions): CliError {
  try {
    read(words);
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
  throw new Error('it was taken');
}

describe('a source address', () => {
  test.each([
    ['postgres://u@h/d', { host: 'h', port: 5432, dbname: 'd', username: 'u', ssl: 'require' }],
    ['postgresql://u@h:5433/d', { port: 5433 }],
    ['postgres://u@h', { dbname: 'u' }],
    ['postgres://u@h/', { dbname: 'u' }],
    ['postgres://u@[2001:db8::1]:5433/d', { host: '2001:db8::1', port: 5433 }],
    ['postgres://u@[::1]/d', { host: '::1', port: 5432 }],
    ['postgres://a%40b@h/My-DB', { username: 'a@b', dbname: 'My-DB' }],
    ['postgres://u@h/a%20%22b%22%2Fc', { dbname: 'a "b"/c' }],
    ['postgres://u@h/d%C3%A9j%C3%A0', { dbname: 'déjà' }],
    ['postgres://h/d?user=u', { username: 'u' }],
    ['postgres:///d?user=u&host=h&port=5433', { host: 'h', port: 5433 }],
    ['postgres://u@h/d?dbname=other', { dbname: 'other' }],
    ['postgres://u@h/d?sslmode=disable', { ssl: 'disable' }],
    ['postgres://u@h/d?sslmode=require', { ssl: 'require' }],
    ['postgres://u@h/d?ssl=true', { ssl: 'require' }],
    ['postgres://u@h/d?ssl=1', { ssl: 'require' }],
    ['postgres://u@h/d?ssl=false', { ssl: 'disable' }],
    ['postgres://u@h/d?ssl=0', { ssl: 'disable' }],
    ['postgres://u@h/d?ssl=true&sslmode=verify-full', { ssl: 'require' }],
    ['postgres://u@h/d?replication=database&requirepeer=x&max_protocol_version=3.2&sslcrldir=d', { dbname: 'd' }],
    ['\tpostgres://u@h/d\n', { dbname: 'd' }],
    ['postgres://u@db.example.com./d', { host: 'db.example.com.' }],
    ['postgres://u@bücher.example/d', { host: 'xn--bcher-kva.example' }],
    ["host=h user=u dbname='my db' port=5433", { host: 'h', username: 'u', dbname: 'my db', port: 5433 }],
    ["host=h user=u dbname='it\\'s \\\\'", { dbname: "it's \\" }],
  ])('%s is read', (source, wanted) => {
    expect(url(source).source).toMatchObject(wanted);
  });

  test.each([
    ['postgres://u@a,b/d', /several hosts/],
    ['postgres://u@a:1,b:2/d', /several hosts/],
    ['postgres://u@h/d?service=x', /service file/],
    ['postgres://u@h/d?hostaddr=1.2.3.4', /one host/],
    ['postgres://u@h/d?sslcert=c.pem', /client certificate/],
    ['postgres://u@h/d?scram_client_key=k', /with a password/],
    ['postgres://u@h/d?oauth_issuer=i', /with a password/],
    ['postgres://u@h/d?ssl=no-verify', /value of ssl/],
    ['postgres://u@h/d?ssl=false&sslmode=require', /contradict/],
    ['postgres://u@%2Fvar%2Frun%2Fpostgresql/d', /Unix-domain socket/],
    ['postgres://u@/d?host=/tmp', /Unix-domain socket/],
    ['postgres://u@/d', /names no host/],
    ['postgres:///d?user=u&host=/tmp', /Unix-domain socket/],
    ['postgres://u@h:0/d', /port/],
    ['postgres://u@h:65536/d', /port/],
    ['postgres://u@h:x/d', /port/],
    ['postgres://u@::1/d', /not clear/],
    ['postgres://h/d', /user .* missing/],
    ['postgres://u@h/d?sslmod=disable', /not known/],
    ['postgres://u@h/d?sslmode=on', /sslmode is not known/],
    ['postgres://u@h/d?sslmode', /without a value/],
    ['postgres://u@h/d%00', /percent-encoded/],
    ['postgres://u@h/%zz', /percent-encoded/],
    ['mysql://u@h/d', /no PostgreSQL address/],
    ['postgres://u:p@ss@h/d', /holds an @ in the user name or the password/],
    ['postgres://u:p@s/s@h/d', /holds an @ in the user name or the password/],
    ['postgres://u@h h/d', /neither a name nor an address/],
    ['just-words', /not a connection string/],
    ["host=h user=u dbname='open", /not a connection string/],
  ])('%s is refused', (source, reason) => {
    const error = refusal({ source });
    expect(error.message).toMatch(reason);
    expect(error.exitCode).toBe(2);
  });

  test('a host alone is no socket folder, and an empty host with a socket folder is refused with the reason', () => {
    expect(refusal({ host: '/tmp', dbname: 'd', username: 'u' }).message).toContain('the service cannot');
    expect(refusal({ host: '@abstract', dbname: 'd', username: 'u' }).message).toContain('the service cannot');
  });

  test('every password and every name survives percent-encoding, and warns when it stood in an argument', () => {
    fc.assert(
      fc.property(texts, texts, texts, (password, username, dbname) => {
        const [p, u, d] = [password, username, dbname].map(encodeURIComponent);
        const { source, passwordInUrl } = url(`postgres://${u}:${p}@h/${d}`);
        expect(source.password?.reveal()).toBe(password);
        expect([source.username, source.dbname, passwordInUrl]).toEqual([username, dbname, true]);
        expect(url(`postgres://h/?user=${u}&password=${p}&dbname=${d}`).source.password?.reveal()).toBe(password);
      }),
    );
  });

  test('every password survives the quotes of a connection string of words', () => {
    fc.assert(
      fc.property(texts, (password) => {
        const quoted = password.replace(/[\\']/g, '\\$&');
        expect(url(`host=h user=u password='${quoted}'`).source.password?.reveal()).toBe(password);
      }),
    );
  });

  test('what libpq takes bare in a password is taken bare', () => {
    expect(url('postgres://u:a#b?c:d[e]@h/d').source.password?.reveal()).toBe('a#b?c:d[e]');
  });

  test('a password that was not encoded is never repeated by the refusal', () => {
    for (const source of [
      'postgres://u:s3/cret@h/d',
      'postgres://u:s3@cret@h/d',
      'postgres://u:100%cret@h/d',
      'host=h user=u password=s3 cret',
    ]) {
      const { message, hint, detail } = refusal({ source });
      expect(`${message} ${hint} ${detail}`).not.toMatch(/cret/);
    }
  });

  test('an empty password is none', () => {
    expect(url('postgres://u:@h/d').source.password).toBeUndefined();
    expect(url('postgres://u:@h/d').passwordInUrl).toBe(false);
  });

  test('a parameter without meaning for a migration is named', () => {
    expect(url('postgres://u@h/d?connect_timeout=3').notes).toEqual(['connect_timeout in --source is not used']);
  });

  test('its parts print without the password', () => {
    expect(JSON.stringify(url('postgres://u:s3cret@h/d'))).not.toContain('s3cret');
  });
});

describe('sslmode', () => {
  test.each(['prefer', 'allow'])('%s is taken as require, and that is said', (mode) => {
    const { source, notes } = url(`postgres://u@h/d?sslmode=${mode}`);
    expect(source.ssl).toBe('require');
    expect(notes).toHaveLength(1);
    expect(url(`postgres://u@h/d?sslmode=${mode}`, { disableSsl: true }).source.ssl).toBe('disable');
  });

  test.each(['require', 'verify-ca', 'verify-full'])('%s contradicts --disable-ssl', (mode) => {
    expect(refusal({ source: `postgres://u@h/d?sslmode=${mode}`, disableSsl: true }).message).toContain('contradict');
  });

  test('disable agrees with --disable-ssl', () => {
    expect(url('postgres://u@h/d?sslmode=disable', { disableSsl: true }).source.ssl).toBe('disable');
  });

  test('verify-full without a CA trusts the usual ones, and verify-ca leaves the name out', () => {
    expect(url('postgres://u@h/d?sslmode=verify-full').source.verify).toEqual({ what: 'full' });
    expect(url('postgres://u@h/d?sslmode=verify-ca').source.verify).toEqual({ what: 'chain' });
    expect(url('postgres://u@h/d?sslmode=require').source.verify).toBeUndefined();
  });

  test('a CA file that is missing, empty of certificates or useless is refused', () => {
    const words = { source: 'postgres://u@h/d', caFile: 'ca.pem' };
    expect(refusal(words).message).toContain('not there');
    expect(() => parsePostgresqlSource(words, () => 'no certificate')).toThrow(/holds no certificate/);
    expect(() => parsePostgresqlSource({ ...words, disableSsl: true }, none)).toThrow(/without TLS/);
  });
});

describe('parts', () => {
  test('are enough', () => {
    expect(read({ host: 'h', port: '5433', dbname: 'd', username: 'u' }).source).toEqual({
      host: 'h',
      port: 5433,
      dbname: 'd',
      username: 'u',
      password: undefined,
      ssl: 'require',
    });
    expect(read({ host: '[::1]', dbname: 'd', username: 'u' }).source).toMatchObject({ host: '::1', port: 5432 });
  });

  test.each([
    [{ dbname: 'd', username: 'u' }, '--host'],
    [{ host: 'h', username: 'u' }, '--dbname'],
    [{ host: 'h', dbname: 'd' }, '--username'],
    [{ host: 'h:5432', dbname: 'd', username: 'u' }, '--port'],
  ])('one that is missing or in the wrong place is named: %j', (words, option) => {
    expect(refusal(words).hint).toContain(option);
  });

  test('the host may be a connection string, which fills in what is missing', () => {
    const host = 'postgres://u:p@db.example.com:5433/d';
    const { source, passwordInUrl } = read({ host });
    expect(source).toMatchObject({ host: 'db.example.com', port: 5433, dbname: 'd', username: 'u' });
    expect(passwordInUrl).toBe(true);
    expect(read({ host: 'host=db.example.com user=u', dbname: 'd' }).source).toMatchObject({ dbname: 'd' });
  });

  test('a connection string in the host that says something else is a fact for the report', () => {
    const host = 'postgres://u:p@db.example.com:5433/d';
    expect(read({ host, port: '5433', dbname: 'd', username: 'u' }).source.contradictions).toBeUndefined();
    expect(read({ host, port: '5432', dbname: 'e', username: 'v' }).source.contradictions).toEqual([
      '--host says port 5433, and --port says 5432',
      '--host says dbname d, and --dbname says e',
      '--host says user u, and --username says v',
    ]);
  });

  test('--source and an option that says something else are a usage error', () => {
    expect(refusal({ source: 'postgres://u@h/d', dbname: 'e' }).message).toContain('dbname');
    expect(url('postgres://u@h', { dbname: 'e' }).source.dbname).toBe('e');
  });

  test('CLOUDCTL_SOURCE gives way to every option, and its password stays hidden', () => {
    const environment = 'postgres://u:p@h:5433/d';
    const { source, passwordInUrl } = read({ environment, dbname: 'e' });
    expect(source).toMatchObject({ host: 'h', port: 5433, dbname: 'e', username: 'u' });
    expect([source.password?.reveal(), passwordInUrl, source.contradictions]).toEqual(['p', false, undefined]);
    expect(read({ environment, source: 'postgres://v@g/c' }).source).toMatchObject({ host: 'g', username: 'v' });
    expect(read({ environment, host: 'g', dbname: 'c', username: 'v' }).source.password).toBeUndefined();
  });
});

/** Any text the server could hold: no NUL, no half of a pair. */
const texts = fc.string({ unit: 'binary', minLength: 1 }).filter((text) => !/[\0\p{Surrogate}]/u.test(text));
