import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { failpointHandler } from '../../src/platform/failpoint-actions.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cloudctl-points-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the hook of a test build', () => {
  it.each([
    [{ CLOUDCTL_TEST_KILL_AT: 'b' }, [['SIGKILL', 2]]],
    [{ CLOUDCTL_TEST_KILL_AT: 'b:2' }, [['SIGKILL', 4]]],
    [
      { CLOUDCTL_TEST_STOP_AT: 'c', CLOUDCTL_TEST_KILL_AT: 'a' },
      [
        ['SIGKILL', 1],
        ['SIGSTOP', 3],
      ],
    ],
    [{ CLOUDCTL_TEST_KILL_AT: 'd' }, []],
    [{}, []],
  ])('with %j acts where it is meant to, once', (env, expected) => {
    const acts: unknown[] = [];
    let step = 0;
    const reached = failpointHandler(env, (signal) => acts.push([signal, step]));
    for (const point of ['a', 'b', 'c', 'b', 'c']) {
      step += 1;
      reached(point);
    }
    expect(acts).toEqual(expected);
  });

  it('writes down the points it passed and the two widths', () => {
    const [points, widths] = [join(folder, 'points'), join(folder, 'widths')];
    let now = 0;
    const env = { CLOUDCTL_TEST_POINTS: points, CLOUDCTL_TEST_WIDTHS: widths };
    const reached = failpointHandler(
      env,
      () => undefined,
      () => now,
    );
    for (const [point, at] of [
      ['K7-read', 100],
      ['K7-written', 100.5],
      ['K8-sealed', 104],
    ] as const) {
      now = at;
      reached(point);
    }
    expect(readFileSync(points, 'utf8')).toBe('K7-read\nK7-written\nK8-sealed\n');
    expect(JSON.parse(readFileSync(widths, 'utf8'))).toEqual({ written_ms: 0.5, synced_ms: 4 });
  });

  it('CLOUDCTL_TEST_COMMITS has how long the credential store took', () => {
    const commits = join(folder, 'commits');
    let now = 0;
    const reached = failpointHandler(
      { CLOUDCTL_TEST_COMMITS: commits },
      () => undefined,
      () => now,
    );
    for (const [point, at] of [
      ['K7-read', 100],
      ['K7-written', 100.5],
      ['K10-stored', 107],
    ] as const) {
      now = at;
      reached(point);
    }
    expect(JSON.parse(readFileSync(commits, 'utf8'))).toEqual({ after_read_ms: 7, after_write_ms: 6.5 });
  });

  it('writes nothing unless it is asked', () => {
    failpointHandler({}, () => undefined)('K8-sealed');
    expect(existsSync(join(folder, 'widths'))).toBe(false);
  });
});
