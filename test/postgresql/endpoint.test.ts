import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CliError } from '../../src/base/errors.ts';
import { type EndpointOptions, parsePostgresqlEndpoint } from '../../src/postgresql/endpoint.ts';
import { expectGolden } from '../fixtures/golden.ts';

type ReadText = (path: string) => string | undefined;

const none = () => undefined;
const read = (options: EndpointOptions, readText: ReadText = none) => parsePostgresqlEndpoint(options, readText);
const url = (source: string, more: EndpointOptions = {}) => read({ source, ...more });

function refusal(options: EndpointOptions, readText: ReadText = none): CliError {
  try {
    read(options, readText);
  } catch (error) {
    if (error instanceof CliError) return error;
    throw error;
  }
  throw new Error('the options were accepted');
}

/** Message and hint, as users read them. */
function words({ message, hint }: CliError): string {
  return [message, ...(hint === undefined ? [] : [`hint: ${hint}`])].join('\n');
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
    ['postgres://u@a,b/d'],
    ['postgres://u@a:1,b:2/d'],
    ['postgres://u@h/d?service=x'],
    ['postgres://u@h/d?hostaddr=1.2.3.4'],
    ['postgres://u@h/d?sslcert=c.pem'],
    ['postgres://u@h/d?scram_client_key=k'],
    ['postgres://u@h/d?oauth_issuer=i'],
    ['postgres://u@h/d?ssl=no-verify'],
    ['postgres://u@h/d?ssl=false&sslmode=require'],
    ['postgres://u@%2Fvar%2Frun%2Fpostgresql/d'],
    ['postgres://u@/d?host=/tmp'],
    ['postgres://u@/d'],
    ['postgres:///d?user=u&host=/tmp'],
    ['postgres://u@h:0/d'],
    ['postgres://u@h:65536/d'],
    ['postgres://u@h:x/d'],
    ['postgres://u@::1/d'],
    ['postgres://h/d'],
    ['postgres://u@h/d?sslmod=disable'],
    ['postgres://u@h/d?sslmode=on'],
    ['postgres://u@h/d?sslmode'],
    ['postgres://u@h/d%00'],
    ['postgres://u@h/%zz'],
    ['mysql://u@h/d'],
    ['postgres://u:p@ss@h/d'],
    ['postgres://u:p@s/s@h/d'],
    ['postgres://u@h h/d'],
    ['just-words'],
    ["host=h user=u dbname='open"],
  ])('%s is refused', (source) => {
    const error = refusal({ source });
    expect(error.code).toBe('usage');
    expectGolden('db-preflight', words(error));
  });

  test.each(['/tmp', '@abstract'])('the socket %s as host is refused', (host) => {
    const error = refusal({ host, dbname: 'd', username: 'u' });
    expect(error.code).toBe('usage');
    expectGolden('db-preflight', words(error));
  });

  test('every percent-encoded password and name is decoded, and a password in an argument is flagged', () => {
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

  test('every quoted password of a key=value string is decoded', () => {
    fc.assert(
      fc.property(texts, (password) => {
        const quoted = password.replace(/[\\']/g, '\\$&');
        expect(url(`host=h user=u password='${quoted}'`).source.password?.reveal()).toBe(password);
      }),
    );
  });

  test('characters that libpq accepts unencoded in a password are accepted', () => {
    expect(url('postgres://u:a#b?c:d[e]@h/d').source.password?.reveal()).toBe('a#b?c:d[e]');
  });

  test('an error does not repeat a password that was not encoded', () => {
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

  test('an empty password counts as none', () => {
    expect(url('postgres://u:@h/d').source.password).toBeUndefined();
    expect(url('postgres://u:@h/d').passwordInUrl).toBe(false);
  });

  test('a parameter that a migration does not use is named', () => {
    const { notes } = url('postgres://u@h/d?connect_timeout=3');
    expect(notes).toHaveLength(1);
    expectGolden('db-preflight', notes.join('\n'));
  });

  test('the parsed source prints without the password', () => {
    expect(JSON.stringify(url('postgres://u:s3cret@h/d'))).not.toContain('s3cret');
  });
});

describe('sslmode', () => {
  test.each(['prefer', 'allow'])('%s is used as require, with a note', (mode) => {
    const { source, notes } = url(`postgres://u@h/d?sslmode=${mode}`);
    expect(source.ssl).toBe('require');
    expect(notes).toHaveLength(1);
    expect(url(`postgres://u@h/d?sslmode=${mode}`, { disableSsl: true }).source.ssl).toBe('disable');
  });

  test.each(['require', 'verify-ca', 'verify-full'])('%s contradicts --disable-ssl', (mode) => {
    expect(refusal({ source: `postgres://u@h/d?sslmode=${mode}`, disableSsl: true }).message).toContain(
      '--disable-ssl',
    );
  });

  test('disable agrees with --disable-ssl', () => {
    expect(url('postgres://u@h/d?sslmode=disable', { disableSsl: true }).source.ssl).toBe('disable');
  });

  test('verify-full without a CA file uses the default certificates, and verify-ca does not verify the host name', () => {
    expect(url('postgres://u@h/d?sslmode=verify-full').source.verify).toEqual({ what: 'full' });
    expect(url('postgres://u@h/d?sslmode=verify-ca').source.verify).toEqual({ what: 'chain' });
    expect(url('postgres://u@h/d?sslmode=require').source.verify).toBeUndefined();
  });

  test('a CA file that does not exist, has no certificate or is not used is refused', () => {
    const options = { source: 'postgres://u@h/d', caFile: 'ca.pem' };
    const errors = [
      refusal(options),
      refusal(options, () => 'no certificate'),
      refusal({ ...options, disableSsl: true }),
    ];
    expect(errors.map(({ code }) => code)).toEqual(['usage', 'usage', 'usage']);
    expectGolden('db-preflight', errors.map(words).join('\n'));
  });
});

describe('parts', () => {
  test('describe a source completely', () => {
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
  ])('the hint names the option that is missing or wrong: %j', (options, option) => {
    expect(refusal(options).hint).toContain(option);
  });

  test('a connection string in the host supplies missing values', () => {
    const host = 'postgres://u:p@db.example.com:5433/d';
    const { source, passwordInUrl } = read({ host });
    expect(source).toMatchObject({ host: 'db.example.com', port: 5433, dbname: 'd', username: 'u' });
    expect(passwordInUrl).toBe(true);
    expect(read({ host: 'host=db.example.com user=u', dbname: 'd' }).source).toMatchObject({ dbname: 'd' });
  });

  test('contradictions between a connection string in the host and options are kept for the report', () => {
    const host = 'postgres://u:p@db.example.com:5433/d';
    expect(read({ host, port: '5433', dbname: 'd', username: 'u' }).source.contradictions).toBeUndefined();
    const { contradictions = [] } = read({ host, port: '5432', dbname: 'e', username: 'v' }).source;
    expect(contradictions).toHaveLength(3);
    expectGolden('db-preflight', contradictions.join('\n'));
  });

  test('--source and an option with another value are a usage error', () => {
    expect(refusal({ source: 'postgres://u@h/d', dbname: 'e' }).message).toContain('dbname');
    expect(url('postgres://u@h', { dbname: 'e' }).source.dbname).toBe('e');
  });

  test('every option overrides CLOUDCTL_SOURCE, whose password is not flagged', () => {
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
