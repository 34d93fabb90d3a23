import { expect, test } from 'vitest';
import {
  type HbaRule,
  hbaRuleCheck,
  prefixLength,
} from '../../../../../src/db/preflight/postgresql/checks/hba-rule.ts';
import type { DatabaseAccess } from '../../../../../src/db/preflight/postgresql/source-facts.ts';
import { expectText } from '../expect-text.ts';
import { connected, preflightOptions, role, settings, short, sourceFacts } from '../facts.ts';

const mask = (bits: number) =>
  [0, 8, 16, 24].map((at) => 256 - 2 ** (8 - Math.max(0, Math.min(8, bits - at)))).join('.');

/** As in `host all all 0.0.0.0/0 scram-sha-256`. */
function rule(text: string, line = 1): HbaRule {
  const [type = '', databases = '', users = '', from = '', method = '', ...options] = text.split(/\s+/);
  const [address = '', bits] = from.split('/');
  return {
    line,
    type,
    databases: databases.split(','),
    users: users.split(','),
    address,
    netmask: bits === undefined ? undefined : address.includes(':') ? '::' : mask(Number(bits)),
    method,
    options,
    error: undefined,
  };
}

interface Case {
  readonly lines: readonly string[];
  readonly client?: string;
  readonly options?: Parameters<typeof preflightOptions>[0];
  readonly member?: readonly string[];
}

function judge({ lines, client, options: wanted, member }: Case) {
  const facts = {
    hostRules: lines.map((line, at) => rule(line, at + 1)),
    clientAddress: client,
    role: role({ memberOf: ['migrator', ...(member ?? [])] }),
    settings: settings({}),
  };
  return hbaRuleCheck.evaluate(facts, sourceFacts(), preflightOptions(wanted));
}

const blocked = 'fail continuous+dump';

test.each([
  { what: 'open to all', lines: ['host all all 0.0.0.0/0 scram-sha-256'], verdict: 'pass' },
  { what: 'all addresses by word', lines: ['host all all all md5'], verdict: 'pass' },
  { what: 'IPv6 only', lines: ['host all all ::/0 scram-sha-256'], verdict: blocked },
  { what: 'no line', lines: [], verdict: blocked },
  { what: 'the own machine only', lines: ['host all all 127.0.0.1/32 trust'], verdict: blocked },
  { what: 'a socket only', lines: ['local all all all trust'], verdict: blocked },
  { what: 'reject first', lines: ['host all all 0.0.0.0/0 reject', 'host all all 0.0.0.0/0 md5'], verdict: blocked },
  {
    what: 'reject for others first',
    lines: ['host all bob 0.0.0.0/0 reject', 'host all all 0.0.0.0/0 md5'],
    verdict: 'pass',
  },
  {
    what: 'half of the internet rejected first',
    lines: ['host all all 128.0.0.0/2 reject', 'host all all 0.0.0.0/0 md5'],
    verdict: 'warn',
  },
  {
    what: 'the whole internet rejected in two halves first',
    lines: ['host all all 0.0.0.0/1 reject', 'host all all 128.0.0.0/1 reject', 'host all all 0.0.0.0/0 md5'],
    verdict: blocked,
  },
  {
    what: 'the whole internet in two halves',
    lines: ['host all all 0.0.0.0/1 md5', 'host all all 128.0.0.0/1 md5'],
    verdict: 'pass',
  },
  {
    what: 'private networks rejected first',
    lines: ['host all all 10.0.0.0/8 reject', 'host all all 192.168.0.0/16 reject', 'host all all 0.0.0.0/0 md5'],
    verdict: 'pass',
  },
  {
    what: 'a few addresses rejected first',
    lines: ['host all all 45.12.3.0/24 reject', 'host all all 0.0.0.0/0 md5'],
    verdict: 'pass',
  },
  {
    what: 'a part that is let in before it is rejected',
    lines: ['host all all 128.0.0.0/1 md5', 'host all all 128.0.0.0/1 reject', 'host all all 0.0.0.0/0 md5'],
    verdict: 'pass',
  },
  {
    what: 'half of the internet rejected first, for others',
    lines: ['host all bob 128.0.0.0/1 reject', 'host all all 0.0.0.0/0 md5'],
    verdict: 'pass',
  },
  { what: 'peer', lines: ['host all all 0.0.0.0/0 peer'], verdict: blocked },
  { what: 'certificates', lines: ['hostssl all all 0.0.0.0/0 cert'], verdict: blocked },
  {
    what: 'a certificate beside the password',
    lines: ['hostssl all all 0.0.0.0/0 scram-sha-256 clientcert=verify-full'],
    verdict: blocked,
  },
  { what: 'LDAP, which takes a password', lines: ['host all all 0.0.0.0/0 ldap'], verdict: 'pass' },
  { what: 'trust', lines: ['host all all 0.0.0.0/0 trust'], verdict: 'pass' },
  { what: 'the user by name', lines: ['host all migrator 0.0.0.0/0 md5'], verdict: 'pass' },
  { what: 'another user', lines: ['host all app 0.0.0.0/0 md5'], verdict: blocked },
  { what: 'a role it is a member of', lines: ['host all +ops 0.0.0.0/0 md5'], member: ['ops'], verdict: 'pass' },
  { what: 'a role it is no member of', lines: ['host all +ops 0.0.0.0/0 md5'], verdict: blocked },
  { what: 'the databases by name', lines: ['host d1,postgres all 0.0.0.0/0 md5'], verdict: 'pass' },
  { what: 'replication, which is physical', lines: ['host replication all 0.0.0.0/0 md5'], verdict: blocked },
  { what: 'Kerberos encryption', lines: ['hostgssenc all all 0.0.0.0/0 md5'], verdict: blocked },
  { what: 'TLS, which it uses', lines: ['hostssl all all 0.0.0.0/0 md5'], verdict: 'pass' },
  { what: 'no TLS, while it uses it', lines: ['hostnossl all all 0.0.0.0/0 md5'], verdict: blocked },
  {
    what: 'TLS, which it does not use',
    lines: ['hostssl all all 0.0.0.0/0 md5'],
    options: { disableSsl: true },
    verdict: blocked,
  },
] satisfies readonly (Case & { what: string; verdict: string })[])('$what: $verdict', ({ verdict, ...one }) => {
  expect(short(judge(one))).toBe(verdict);
});

test('a rule for one database blocks only the others', () => {
  const outcome = judge({ lines: ['host sameuser,samerole,d1 all 0.0.0.0/0 md5'] });
  expect(outcome).toMatchObject({ status: 'fail', only: ['postgres'], objects: ['postgres'] });
});

test('sameuser and samerole mean the databases named so', () => {
  const outcome = judge({ lines: ['host samerole all 0.0.0.0/0 md5'], member: ['d1', 'postgres'] });
  expect(short(outcome)).toBe('pass');
});

test('the detail of a narrow rule lists the allowed addresses', () => {
  expectText(judge({ lines: ['host all all 203.0.113.0/24 md5'] }).detail);
});

test('from near, only the address that is used decides, and the missing rule is a warning', () => {
  const near = { isOverInternet: false };
  expect(short(judge({ lines: ['host all all 10.0.0.0/8 md5'], client: '10.1.2.3', options: near }))).toBe('warn');
  expect(short(judge({ lines: ['host all all 10.0.0.0/8 reject'], client: '10.1.2.3', options: near }))).toBe(blocked);
  expect(short(judge({ lines: ['host all all 0.0.0.0/0 md5'], client: '10.1.2.3', options: near }))).toBe('pass');
  expect(short(judge({ lines: ['host all all ::1/0 md5'], client: '::1', options: near }))).toBe('warn');
});

test('an invalid line blocks, because the active rules are unknown', () => {
  const nothing = { type: '', databases: [], users: [], address: '', netmask: undefined, method: '', options: [] };
  const broken = { ...nothing, line: 7, error: 'invalid connection type "hots"' };
  const facts = { hostRules: [broken], clientAddress: undefined, role: role(), settings: settings({}) };
  const outcome = hbaRuleCheck.evaluate(facts, sourceFacts(), preflightOptions());
  expect(short(outcome)).toBe(blocked);
  expectText(outcome.detail);
});

test('a hostssl line on a server without TLS has an error and matches no client', () => {
  const error = 'hostssl record cannot match because SSL is disabled';
  const lone = { ...rule('hostssl all all 0.0.0.0/0 reject'), error };
  const facts = { clientAddress: undefined, role: role(), settings: settings({}) };
  const off = sourceFacts({ connection: connected({ ssl: false }) });
  const judged = (hostRules: readonly HbaRule[]) =>
    hbaRuleCheck.evaluate({ ...facts, hostRules }, off, preflightOptions());
  expect(short(judged([lone, rule('host all all 0.0.0.0/0 md5', 2)]))).toBe('pass');
  const outcome = judged([lone]);
  expect(short(outcome)).toBe(blocked);
  expectText(outcome.detail);
});

test('the added line is hostssl when TLS is used, and quotes the user where needed', () => {
  const line = (is: Parameters<typeof sourceFacts>[0]) => {
    const facts = { hostRules: [], clientAddress: undefined, role: role(), settings: settings({}) };
    return hbaRuleCheck.evaluate(facts, sourceFacts(is), preflightOptions()).fix?.shell?.[1];
  };
  expect(line({})).toBe('hostssl all migrator 0.0.0.0/0 scram-sha-256');
  expect(line({ connection: connected({ ssl: false }), username: 'My User' })).toBe(
    'host all "My User" 0.0.0.0/0 scram-sha-256',
  );
});

test.each([
  { netmask: '0.0.0.0', bits: 0 },
  { netmask: '255.255.240.0', bits: 20 },
  { netmask: '255.255.255.255', bits: 32 },
  { netmask: '255.0.255.0', bits: undefined },
  { netmask: '::', bits: 0 },
  { netmask: 'ffff:ffff::', bits: 32 },
  { netmask: 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', bits: 128 },
  { netmask: 'ffff:fff0::', bits: 28 },
])('the mask $netmask has $bits bits', ({ netmask, bits }) => {
  expect(prefixLength(netmask)).toBe(bits);
});

test('a rule by name, which only the server can resolve, is believed where it has let us in', () => {
  const facts = {
    hostRules: [rule('host all all .corp.example scram-sha-256')],
    clientAddress: '10.1.2.3',
    role: role({}),
    settings: settings({}),
  };
  const near = (kind: 'entered' | 'closed') => {
    const reach = new Map<string, DatabaseAccess>(sourceFacts().databases.map((name) => [name, { kind }]));
    return short(
      hbaRuleCheck.evaluate(facts, sourceFacts({ access: reach }), preflightOptions({ isOverInternet: false })),
    );
  };
  expect(near('entered')).toBe('warn');
  expect(near('closed')).toBe(blocked);
  expect(short(hbaRuleCheck.evaluate(facts, sourceFacts(), preflightOptions({ isOverInternet: true })))).toBe(blocked);
});
