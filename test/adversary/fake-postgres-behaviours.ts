import { drip, flood, garbage, hostileText, zeros } from './bad-bytes.ts';
import {
  authentication,
  description,
  error,
  type FakeBehaviour,
  header,
  int16,
  int32,
  key,
  message,
  notice,
  parameter,
  ready,
  row,
} from './fake-postgres.ts';

/** A SASL exchange that a server sends after its list of mechanisms. */
const sasl = (...mechanisms: readonly string[]) => authentication(10, `${mechanisms.join('\0')}\0\0`);

export const fakeLogins: readonly FakeBehaviour[] = [
  { name: 'is silent', login: () => {} },
  { name: 'closes', login: (socket) => socket.destroy() },
  { name: 'speaks HTTP', login: (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n') },
  { name: 'speaks SSH', login: (socket) => socket.write('SSH-2.0-OpenSSH_9.2\r\n') },
  { name: 'sends garbage', login: (socket) => flood(socket, garbage) },
  { name: 'sends zeros', login: (socket) => flood(socket, zeros) },
  {
    name: 'announces 2 GB',
    login: (socket) => {
      socket.write(header('R', 0x7fffffff));
      flood(socket, zeros);
    },
  },
  {
    name: 'announces 2 GB of an error',
    login: (socket) => {
      socket.write(header('E', 0x7fffffff));
      flood(socket, Buffer.from('SFATAL\0'));
    },
  },
  { name: 'announces a negative length', login: (socket) => socket.write(header('R', -1)) },
  { name: 'announces no length', login: (socket) => flood(socket, header('N', 0)) },
  { name: 'sends rows before the login', login: (socket) => flood(socket, row(['x'.repeat(1000)])) },
  { name: 'sends notices before the login', login: (socket) => flood(socket, notice('x'.repeat(1000))) },
  { name: 'sends parameters before the login', login: (socket) => flood(socket, parameter('a', 'x'.repeat(1000))) },
  { name: 'accepts again and again', login: (socket) => flood(socket, authentication(0)) },
  { name: 'asks for MD5 again and again', login: (socket) => flood(socket, authentication(5, Buffer.from('salt'))) },
  { name: 'drips a login', login: (socket) => drip(socket, authentication(0)) },
  { name: 'drips notices', login: (socket) => drip(socket, notice('x'), 50) },
  { name: 'asks for GSSAPI', login: (socket) => socket.write(authentication(7)) },
  { name: 'asks for an unknown authentication', login: (socket) => socket.write(authentication(99)) },
  {
    name: 'has endless mechanisms',
    login: (socket) => flood(socket, sasl(...Array.from({ length: 900 }, () => 'SCRAM-X'))),
  },
  {
    name: 'wants two billion rounds of SCRAM',
    login: (socket) => {
      socket.write(sasl('SCRAM-SHA-256'));
      socket.once('data', (chunk: Buffer) => {
        const nonce = /r=([^,]+)/.exec(chunk.toString('latin1'))?.[1] ?? '';
        socket.write(authentication(11, `r=${nonce}x,s=c2FsdHNhbHQ=,i=2147483647`));
      });
    },
  },
  {
    name: 'proves nothing in SCRAM',
    login: (socket) => {
      socket.write(sasl('SCRAM-SHA-256'));
      socket.once('data', () => socket.write(Buffer.concat([authentication(0), key(), ready()])));
    },
  },
  {
    name: 'reuses the nonce of the client',
    login: (socket) => {
      socket.write(sasl('SCRAM-SHA-256'));
      socket.once('data', (chunk: Buffer) => {
        const nonce = /r=([^,]+)/.exec(chunk.toString('latin1'))?.[1] ?? '';
        socket.write(authentication(11, `r=${nonce},s=c2FsdHNhbHQ=,i=4096`));
      });
    },
  },
  { name: 'refuses with control characters', login: (socket) => socket.end(error(hostileText, '28P01')) },
  { name: 'begins a COPY before the login', login: (socket) => flood(socket, message('W', '\0', int16(0))) },
  { name: 'begins a login and stops', login: (socket) => socket.write(authentication(0)) },
];

export const fakeTls: readonly FakeBehaviour[] = [
  { name: 'answers the request for TLS with an error', tls: (socket) => socket.end(error(hostileText)) },
  { name: 'answers the request for TLS endlessly', tls: (socket) => flood(socket, Buffer.from('S')) },
  {
    name: 'answers the request for TLS with garbage',
    tls: (socket) => socket.write(Buffer.concat([Buffer.from('S'), garbage])),
  },
  {
    name: 'injects a login before TLS',
    tls: (socket) => socket.write(Buffer.concat([Buffer.from('S'), authentication(0), ready()])),
  },
  { name: 'never answers the request for TLS', tls: () => {} },
  { name: 'stops after it accepted TLS', tls: (socket) => socket.write('S') },
];

const wide = description(Array.from({ length: 60_000 }, () => 'x'));
const nested = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;

export const fakeQueries: readonly FakeBehaviour[] = [
  { name: 'is silent after the login', query: () => {} },
  { name: 'closes at each query', query: (socket) => socket.destroy() },
  {
    name: 'sends endless rows',
    query: (socket) => {
      socket.write(description(['a']));
      flood(socket, row(['x'.repeat(1000)]));
    },
  },
  {
    name: 'sends endless empty rows',
    query: (socket) => {
      socket.write(description([]));
      flood(socket, row([]));
    },
  },
  {
    name: 'announces a row of 2 GB',
    query: (socket) => {
      socket.write(description(['a']));
      socket.write(header('D', 0x7fffffff));
      flood(socket, zeros);
    },
  },
  {
    name: 'announces a value of 2 GB',
    query: (socket) => socket.write(Buffer.concat([description(['a']), message('D', int16(1), int32(0x7fffffff))])),
  },
  { name: 'describes 60,000 columns', query: (socket) => flood(socket, wide) },
  { name: 'sends endless notices', query: (socket) => flood(socket, notice(hostileText)) },
  {
    name: 'sends endless notifications',
    query: (socket) => flood(socket, message('A', int32(1), 'channel\0payload\0')),
  },
  { name: 'completes endlessly', query: (socket) => flood(socket, message('C', 'SELECT 1\0')) },
  { name: 'is ready endlessly', query: (socket) => flood(socket, ready()) },
  {
    name: 'fails with control characters',
    query: (socket) => socket.write(Buffer.concat([error(hostileText), ready('E')])),
  },
  {
    name: 'fails with an endless text',
    query: (socket) => {
      socket.write(header('E', 0x7ffffff));
      flood(socket, Buffer.from('Mxxxxxxx'));
    },
  },
  { name: 'wants a COPY', query: (socket) => socket.write(message('G', '\0', int16(0))) },
  {
    name: 'sends an endless COPY',
    query: (socket) => {
      socket.write(message('H', '\0', int16(0)));
      flood(socket, message('d', 'x'.repeat(1000)));
    },
  },
  {
    name: 'drips a row',
    query: (socket) => drip(socket, Buffer.concat([description(['a']), row(['x'.repeat(100_000)])]), 20),
  },
  {
    name: 'answers each query with nothing',
    query: (socket) => socket.write(Buffer.concat([message('C', 'SELECT 0\0'), ready()])),
  },
  { name: 'sends garbage after the login', query: (socket) => flood(socket, garbage) },
  {
    name: 'answers each statement with hostile text',
    query: (socket, sql) => {
      const one = Buffer.concat([
        description(['name', 'setting', 'value']),
        row([hostileText, nested, hostileText]),
        message('C', 'SELECT 1\0'),
      ]);
      socket.write(Buffer.concat([...sql.split(';').map(() => one), ready()]));
    },
  },
];
