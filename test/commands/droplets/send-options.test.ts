import { describe, expect, it } from 'vitest';
import { testHost } from '../../fixtures/host.ts';
import { runCloudctl } from '../run-cloudctl.ts';

const commands = [
  ['droplets', 'create', 'a', '--size', 's', '--image', 'i'],
  ['droplets', 'delete', 'a', '--yes'],
  ['droplets', 'batches', 'delete', 'x', '--yes'],
];

describe('options of commands that send many requests', () => {
  it.each(commands.flatMap((words) => [['0'], ['33'], ['x'], ['1.5']].map(([value]) => ({ words, value }))))(
    '$words.1 takes 1 to 32 requests at the same time, and not $value',
    async ({ words, value = '' }) => {
      const ran = await runCloudctl(testHost(), [...words, '--concurrency', value, '-o', 'json']);
      expect(ran).toMatchObject({ code: 2, out: '' });
      expect(ran.error().message).toContain('--concurrency');
    },
  );

  it.each(commands)('%s %s needs a duration for --max-wait', async (...words) => {
    const ran = await runCloudctl(testHost(), [...words, '--max-wait', '5', '-o', 'json']);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.error().message).toContain('--max-wait');
  });
});
