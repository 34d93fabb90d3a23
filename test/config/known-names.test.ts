import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { forgetNames, maxNames, noNames, readNames, writeNames } from '../../src/config/known-names.ts';
import { testHost } from '../fixtures/host.ts';

const server = 'https://api.example.com';
const fileOf = (state: string) => join(state, 'completion', 'work.json');

it('names are kept for one profile and one server, in a file of mode 0600', () => {
  const { state } = testHost().folders;
  const names = {
    ...noNames,
    droplets: [{ value: 'web', description: 'droplet 7' }],
    sizes: [{ value: 's-1' }],
  };
  writeNames(state, 'work', server, names);
  expect(readNames(state, 'work', server)).toEqual(names);
  expect(readNames(state, 'work', 'https://other.example.com')).toEqual(noNames);
  expect(readNames(state, 'home', server)).toEqual(noNames);
  expect(statSync(fileOf(state)).mode & 0o777).toBe(0o600);
  expect(statSync(join(state, 'completion')).mode & 0o777).toBe(0o700);
  forgetNames(state, 'work');
  expect(existsSync(fileOf(state))).toBe(false);
  forgetNames(state, 'work');
});

it('hostile names are not kept, and not read either', () => {
  const { state } = testHost().folders;
  const hostile = ['', 'a\nb', 'a\tb', '\u001b[31mred', 'a\u202eb', 'back\\slash', 'x'.repeat(256), '\u0000'];
  const names = ['$(touch owned)', 'a b', ...hostile].map((value) => ({ value, description: value }));
  writeNames(state, 'work', server, { ...noNames, droplets: names });
  const kept = ['$(touch owned)', 'a b'].map((value) => ({ value, description: value }));
  expect(readNames(state, 'work', server).droplets).toEqual(kept);
  writeFileSync(
    fileOf(state),
    JSON.stringify({ base_url: server, droplets: [...names, 7, null, { value: 7 }], regions: 'x' }),
  );
  expect(readNames(state, 'work', server)).toEqual({ ...noNames, droplets: kept });
});

it('the file is bounded', () => {
  const { state } = testHost().folders;
  const many = Array.from({ length: maxNames + 50 }, (_, at) => ({ value: `web-${at}` }));
  writeNames(state, 'work', server, { ...noNames, droplets: many });
  expect(readNames(state, 'work', server).droplets).toHaveLength(maxNames);
  const padding = ' '.repeat(5_000_000);
  writeFileSync(fileOf(state), `${readFileSync(fileOf(state), 'utf8')}${padding}`);
  expect(readNames(state, 'work', server)).toEqual(noNames);
});

it('what is not a file with JSON has no names, and no error', () => {
  const { state } = testHost().folders;
  mkdirSync(join(state, 'completion'), { recursive: true });
  for (const text of ['', '{', '[]', 'null', '{"base_url":7}']) {
    writeFileSync(fileOf(state), text);
    expect(readNames(state, 'work', server)).toEqual(noNames);
  }
  const other = join(state, 'other.json');
  writeFileSync(other, JSON.stringify({ base_url: server, droplets: [{ value: 'web' }] }));
  forgetNames(state, 'work');
  symlinkSync(other, fileOf(state));
  expect(readNames(state, 'work', server)).toEqual(noNames);
  writeNames(state, 'work', server, { ...noNames, regions: [{ value: 'nyc3' }] });
  expect(readFileSync(other, 'utf8')).toContain('web');
});

it('a folder that cannot be written is no error', () => {
  const { state } = testHost().folders;
  mkdirSync(state, { recursive: true });
  writeFileSync(join(state, 'completion'), 'a file');
  writeNames(state, 'work', server, noNames);
  forgetNames(state, 'work');
  expect(readNames(state, 'work', server)).toEqual(noNames);
});
