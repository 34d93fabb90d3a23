import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Folders } from '../../fixtures/folders.ts';
import { type Case, goldenCases } from './golden.ts';

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
const cases: readonly Case[] = [
  { name: 'an address that is no URL', ...usage, words: ['--auth-url', 'cloud.example.com', 'auth', 'login'] },
  { name: 'an address of another kind', ...usage, words: ['--auth-url', 'ftp://cloud.example.com', 'auth', 'login'] },
  { name: 'http to a public host', ...usage, words: ['--auth-url', 'http://cloud.example.com', 'auth', 'login'] },
  { name: 'an address with a path', ...usage, words: ['--base-url', 'https://api.example.com/v2', 'actions', 'list'] },
  {
    name: 'an address with a user name and password',
    ...usage,
    words: ['--base-url', 'https://ada:canary@api.example.com', 'actions', 'list'],
  },
  {
    name: 'an address with a query',
    ...usage,
    words: ['--auth-url', 'https://cloud.example.com?key=canary', 'auth', 'login'],
  },
  {
    name: 'an address with a fragment',
    ...usage,
    words: ['--auth-url', 'https://cloud.example.com/#canary', 'auth', 'login'],
  },
  {
    name: 'an address on a port where browsers do not go',
    ...usage,
    words: ['--auth-url', 'https://cloud.example.com:25', 'auth', 'login'],
  },
  {
    name: 'a bad address in a variable',
    ...usage,
    words: ['actions', 'list'],
    env: { CLOUDCTL_BASE_URL: 'http://api.example.com' },
  },
  {
    name: 'a callback URL of another machine',
    ...usage,
    words: ['auth', 'setup', '--callback-url', 'http://192.0.2.7:8765/callback'],
  },
  {
    name: 'a callback URL with https',
    ...usage,
    words: ['auth', 'setup', '--callback-url', 'https://127.0.0.1:8765/callback'],
  },
  {
    name: 'an unknown value in a variable',
    ...usage,
    words: ['actions', 'list'],
    env: { CLOUDCTL_CREDENTIAL_STORE: 'drawer' },
  },
  { name: 'an unknown output in a variable', ...usage, words: ['actions', 'list'], env: { CLOUDCTL_OUTPUT: 'xml' } },
  {
    name: 'a client secret that is none',
    ...usage,
    words: ['auth', 'setup', '--client-secret-stdin'],
    stdin: 'canary and more words\n',
  },
  {
    name: 'a client secret that is missing on standard input',
    ...usage,
    words: ['auth', 'setup', '--client-secret-stdin'],
    stdin: '',
  },
  {
    name: 'an access token that is none',
    ...usage,
    words: ['actions', 'list'],
    env: { CLOUDCTL_ACCESS_TOKEN: 'canary and more' },
  },
  { name: 'a profile name that cannot be one', ...usage, words: ['auth', 'status', '--profile', '../work'] },
  {
    name: 'an unknown profile',
    exit: 2,
    code: 'profile_unknown',
    words: ['actions', 'list', '--profile', 'wrok'],
    prepare: config(work),
  },
  {
    name: 'an unknown profile where there is none at all',
    exit: 2,
    code: 'profile_unknown',
    words: ['actions', 'list', '--profile', 'work'],
  },
  {
    name: 'an unknown profile in the variable',
    exit: 2,
    code: 'profile_unknown',
    words: ['auth', 'token'],
    env: { CLOUDCTL_PROFILE: 'wrok' },
    prepare: config(work),
  },
  {
    name: 'auth switch to an unknown profile',
    exit: 2,
    code: 'profile_unknown',
    words: ['auth', 'switch', 'wrok'],
    prepare: config(work),
  },
  { name: 'nobody is logged in, and nothing is set up', exit: 4, code: 'not_logged_in', words: ['actions', 'list'] },
  {
    name: 'a profile that lacks a value',
    exit: 4,
    code: 'not_logged_in',
    words: ['actions', 'list'],
    prepare: config(work),
  },
  {
    name: 'config get of a key that is not set',
    exit: 1,
    code: 'not_found',
    words: ['config', 'get', 'flow'],
    prepare: config(work),
  },
  {
    name: 'a config that is no JSON',
    ...invalid,
    words: ['actions', 'list'],
    prepare: config('{\n  "current": "work"\n  "profiles": {}\n}\n'),
  },
  {
    name: 'a config with a comment',
    ...invalid,
    words: ['auth', 'token'],
    prepare: config('{\n  // mine\n  "profiles": {}\n}\n'),
  },
  {
    name: 'a config that ends too early',
    ...invalid,
    words: ['auth', 'login'],
    prepare: config('{\n  "current": "work",\n  "profiles": {'),
  },
  { name: 'a config that is empty', ...invalid, words: ['auth', 'status'], prepare: config('') },
  { name: 'a config that is no object', ...invalid, words: ['auth', 'list'], prepare: config('[]\n') },
  {
    name: 'a config with profiles of the wrong type',
    ...invalid,
    words: ['actions', 'list'],
    prepare: config('{\n  "profiles": []\n}\n'),
  },
  {
    name: 'a config with a value of the wrong type',
    ...invalid,
    words: ['actions', 'list'],
    prepare: config(work.replace('"https://cloud.example.com"', '17')),
  },
  {
    name: 'a config with a wrong value',
    ...invalid,
    words: ['config', 'set', 'flow', 'code'],
    prepare: config(work.replace('https://', 'http://')),
  },
  {
    name: 'a config with a current profile that is not there',
    exit: 2,
    code: 'profile_unknown',
    words: ['actions', 'list'],
    prepare: config(work.replace('"work",', '"home",')),
  },
  { name: 'setup with nobody to ask', ...usage, words: ['auth', 'setup'] },
  { name: 'login with nobody to ask', ...usage, words: ['auth', 'login'] },
  {
    name: 'login with nobody to ask, one value missing',
    ...usage,
    words: ['auth', 'login'],
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
    words: ['auth', 'status'],
    env: {
      CLOUDCTL_AUTH_URL: 'https://cloud.example.com',
      CLOUDCTL_BASE_URL: 'https://api.example.com',
      CLOUDCTL_CLIENT_ID: 'mine',
    },
  },
];

goldenCases('settings', cases);
