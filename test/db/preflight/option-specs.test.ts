import { describe, expect, it } from 'vitest';
import type { OptionSpec } from '../../../src/cli/command.ts';
import {
  type PreflightOptions,
  preflightOptionSpecs,
  readPreflightOptions,
} from '../../../src/db/preflight/options.ts';
import { argsFrom } from '../../fixtures/command-io.ts';
import { profileNamed } from '../../fixtures/profile.ts';

type Engine = Parameters<typeof readPreflightOptions>[1];
type Given = Readonly<Record<string, readonly string[]>>;

/** Options of the source, which the preflight reads as well. */
const sourceSpecs: readonly OptionSpec[] = [
  { name: 'ignore-dbs', description: '', valueName: 'a,b', multiple: 'list' },
  { name: 'disable-ssl', description: '' },
];
const specs = [...preflightOptionSpecs, ...sourceSpecs];

function read(given: Given, engine: Engine = 'postgresql', baseUrl?: string): PreflightOptions {
  const values = baseUrl === undefined ? {} : { base_url: baseUrl };
  const settings = {
    ...{
      profileName: 'default',
      profile: profileNamed('default'),
      isProfileStored: false,
      isProfileNamed: false,
      values,
    },
    ...{ clientSecret: undefined, accessToken: undefined, isAccessTokenIgnored: false, storedBaseUrl: undefined },
  };
  return readPreflightOptions(argsFrom(given, [], specs), engine, settings, 1000);
}

it('without options the continuous method is checked, and nothing is known about the target', () => {
  expect(read({})).toEqual({
    method: 'continuous',
    targetVersion: undefined,
    targetExtensions: undefined,
    target: undefined,
    ignoreDbs: [],
    disableSsl: false,
    isOverInternet: true,
    sourceDiskFree: undefined,
    accept: [],
    strict: false,
    probe: false,
    now: 1000,
  });
});

it('every option is read', () => {
  const given = {
    method: ['dump'],
    'target-version': ['17'],
    'target-extensions': ['PostGIS=3.5.0Dev', 'hstore'],
    'ignore-dbs': ['old', 'test'],
    'disable-ssl': [''],
    'source-disk-free': ['5000000000'],
    'target-memory': ['1073741824'],
    accept: ['wal-level'],
    strict: [''],
    probe: [''],
  };
  expect(read(given)).toMatchObject({
    method: 'dump',
    targetVersion: '17',
    // PostgreSQL folds the names of extensions.
    targetExtensions: ['postgis=3.5.0Dev', 'hstore'],
    ignoreDbs: ['old', 'test'],
    disableSsl: true,
    sourceDiskFree: 5_000_000_000,
    targetMemory: 1_073_741_824,
    accept: ['wal-level'],
    strict: true,
    probe: true,
  });
});

it.each([
  ['a public service', {}, 'https://api.example.com', true],
  ['an unknown service', {}, undefined, true],
  ['a service on this machine', {}, 'http://127.0.0.1:8080', false],
  ['a service on this machine by IPv6', {}, 'http://[::1]:8080', false],
  ['a public service with --allow-private', { 'allow-private': [''] }, 'https://api.example.com', false],
  ['a service on this machine with --judge-as-public', { 'judge-as-public': [''] }, 'http://localhost', true],
  ['--judge-as-public with --allow-private', { 'judge-as-public': [''], 'allow-private': [''] }, undefined, true],
] as const)('addresses for %s', (_name, given, baseUrl, isOverInternet) => {
  expect(read(given, 'postgresql', baseUrl).isOverInternet).toBe(isOverInternet);
});

describe('the method', () => {
  it.each([
    ['postgresql', 'continuous'],
    ['postgresql', 'dump'],
    ['redis', 'continuous'],
    ['redis', 'scan'],
  ] as const)('%s can be migrated by %s', (engine, method) => {
    expect(read({ method: [method] }, engine).method).toBe(method);
  });

  it.each([
    ['postgresql', 'scan'],
    ['redis', 'dump'],
  ] as const)('%s cannot be migrated by %s', (engine, method) => {
    expect(() => read({ method: [method] }, engine)).toThrow(expect.objectContaining({ code: 'usage' }));
  });
});

describe('the version of the target', () => {
  it.each([
    ['postgresql', ['17', '16.4', '9.6']],
    ['redis', ['7', '7.2', '7.2.4', 'redis-7.2', 'valkey-8', 'Valkey-8.0.1']],
  ] as const)('%s has the versions %j', (engine, versions) => {
    for (const version of versions) expect(read({ 'target-version': [version] }, engine).targetVersion).toBe(version);
  });

  it.each([
    ['postgresql', ['', 'new', 'valkey-8', '17; DROP']],
    ['redis', ['', 'new', 'redis-', '7.2.4.1', '1234']],
  ] as const)('%s has none of the versions %j', (engine, versions) => {
    for (const version of versions) {
      expect(() => read({ 'target-version': [version] }, engine), version).toThrow(
        expect.objectContaining({ code: 'usage' }),
      );
    }
  });
});

it.each([
  { 'source-disk-free': ['5GB'] },
  { 'source-disk-free': ['-1'] },
  { 'target-memory': ['0'] },
  { 'target-memory': ['1.5'] },
])('%j is a usage error', (given) => {
  expect(() => read(given)).toThrow(expect.objectContaining({ code: 'usage' }));
});
