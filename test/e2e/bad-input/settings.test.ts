import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Folders } from '../../fixtures/folders.ts';
import { type GoldenCase, goldenCases } from './golden-cases.ts';

const usage = { exit: 2, code: 'usage' } as const;
const invalid = { exit: 2, code: 'config_invalid' } as const;

const config =
  (text: string) =>
  (folders: Folders): undefined => {
    mkdirSync(folders.config, { mode: 0o700 });
    writeFileSync(join(folders.config, 'config.json'), text);
  };

const work = JSON.stringify(
  { version: 1, current: 'work', profiles: { work: { auth_url: 'https://cloud.example.com' } } },
  null,
  2,
);

/** Wrong values of options, variables and config.json: nothing is sent. */
const cases: readonly GoldenCase[] = [
  { name: 'an address that is no URL', ...usage, args: ['--auth-url', 'cloud example', 'auth', 'login'] },
  { name: 'an address of another kind', ...usage, args: ['--auth-url', 'ftp://cloud.example.com', 'auth', 'login'] },
  { name: 'http to a public host', ...usage, args: ['--auth-url', 'http://cloud.example.com', 'auth', 'login'] },
  { name: 'an address with a path', ...usage, args: ['--base-url', 'https://api.example.com/v2', 'actions', 'list'] },
  {
    name: 'an address with a user name and password',
    ...usage,
    args: ['--base-url', 'https://ada:canary@api.example.com', 'actions', 'list'],
  },
  {
    name: 'an address with a query',
    ...usage,
    args: ['--auth-url', 'https://cloud.example.com?key=canary', 'auth', 'login'],
  },
  {
    name: 'an address with a fragment',
    ...usage,
    args: ['--auth-url', 'https://cloud.example.com/#canary', 'auth', 'login'],
  },
  {
    name: 'an address on a port where browsers do not go',
    ...usage,
    args: ['--auth-url', 'https://cloud.example.com:25', 'auth', 'login'],
  },
  {
    name: 'a bad address in a variable',
    ...usage,
    args: ['actions', 'list'],
    env: { CLOUDCTL_BASE_URL: 'http://api.example.com' },
  },
  {
    name: 'a callback URL of another machine',
    ...usage,
    args: ['auth', 'setup', '--callback-url', 'http://192.0.2.7:8765/callback'],
  },
  {
    name: 'a callback URL with https',
    ...usage,
    args: ['auth', 'setup', '--callback-url', 'https://127.0.0.1:8765/callback'],
  },
  {
    name: 'an unknown value in a variable',
    ...usage,
    args: ['actions', 'list'],
    env: { CLOUDCTL_CREDENTIAL_STORE: 'drawer' },
  },
  { name: 'an unknown output in a variable', ...usage, args: ['actions', 'list'], env: { CLOUDCTL_OUTPUT: 'xml' } },
  {
    name: 'a client secret that is none',
    ...usage,
    args: ['auth', 'setup', '--client-secret-stdin'],
    stdin: 'canary and more words\n',
  },
  {
    name: 'a client secret that is missing on standard input',
    ...usage,
    args: ['auth', 'setup', '--client-secret-stdin'],
    stdin: '',
  },
  {
    name: 'an access token that is none',
    ...usage,
    args: ['actions', 'list'],
    env: { CLOUDCTL_ACCESS_TOKEN: 'canary and more' },
  },
  { name: 'a profile name that cannot be one', ...usage, args: ['auth', 'status', '--profile', '../work'] },
  {
    name: 'an unknown profile',
    exit: 2,
    code: 'profile_unknown',
    args: ['actions', 'list', '--profile', 'wrok'],
    prepare: config(work),
  },
  {
    name: 'an unknown profile where there is none at all',
    exit: 2,
    code: 'profile_unknown',
    args: ['actions', 'list', '--profile', 'work'],
  },
  {
    name: 'an unknown profile in the variable',
    exit: 2,
    code: 'profile_unknown',
    args: ['auth', 'token'],
    env: { CLOUDCTL_PROFILE: 'wrok' },
    prepare: config(work),
  },
  {
    name: 'auth switch to an unknown profile',
    exit: 2,
    code: 'profile_unknown',
    args: ['auth', 'switch', 'wrok'],
    prepare: config(work),
  },
  { name: 'nobody is logged in, and nothing is set up', exit: 4, code: 'not_logged_in', args: ['actions', 'list'] },
  {
    name: 'a profile that lacks a value',
    exit: 4,
    code: 'not_logged_in',
    args: ['actions', 'list'],
    prepare: config(work),
  },
  {
    name: 'config get of a key that is not set',
    exit: 1,
    code: 'not_found',
    args: ['config', 'get', 'flow'],
    prepare: config(work),
  },
  {
    name: 'a config that is no JSON',
    ...invalid,
    args: ['actions', 'list'],
    prepare: config('{\n  "current": "work"\n  "profiles": {}\n}\n'),
  },
  {
    name: 'a config with a comment',
    ...invalid,
    args: ['auth', 'token'],
    prepare: config('{\n  // mine\n  "profiles": {}\n}\n'),
  },
  {
    name: 'a config that ends too early',
    ...invalid,
    args: ['auth', 'login'],
    prepare: config('{\n  "current": "work",\n  "profiles": {'),
  },
  { name: 'a config of NUL bytes', ...invalid, args: ['auth', 'status'], prepare: config('\0'.repeat(100)) },
  { name: 'a config that is no object', ...invalid, args: ['auth', 'list'], prepare: config('[]\n') },
  {
    name: 'a config with profiles of the wrong type',
    ...invalid,
    args: ['actions', 'list'],
    prepare: config('{\n  "profiles": []\n}\n'),
  },
  {
    name: 'a config with a value of the wrong type',
    ...invalid,
    args: ['actions', 'list'],
    prepare: config(work.replace('"https://cloud.example.com"', '17')),
  },
  {
    name: 'a config with a wrong value',
    ...invalid,
    args: ['config', 'set', 'flow', 'code'],
    prepare: config(work.replace('https://', 'http://')),
  },
  {
    name: 'a config with a current profile that is not there',
    exit: 2,
    code: 'profile_unknown',
    args: ['actions', 'list'],
    prepare: config(work.replace('"work",', '"home",')),
  },
  { name: 'setup with nobody to ask', ...usage, args: ['auth', 'setup'] },
  { name: 'login with nobody to ask', ...usage, args: ['auth', 'login'] },
  {
    name: 'login with nobody to ask, one value missing',
    ...usage,
    args: ['auth', 'login'],
    env: {
      CLOUDCTL_AUTH_URL: 'https://cloud.example.com',
      CLOUDCTL_BASE_URL: 'https://api.example.com',
      CLOUDCTL_CLIENT_ID: 'mine',
    },
  },
  {
    name: 'no keychain',
    exit: 1,
    code: 'keychain_unavailable',
    args: ['auth', 'status'],
    env: {
      CLOUDCTL_AUTH_URL: 'https://cloud.example.com',
      CLOUDCTL_BASE_URL: 'https://api.example.com',
      CLOUDCTL_CLIENT_ID: 'mine',
    },
  },
];

goldenCases('settings', cases);
