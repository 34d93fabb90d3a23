import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { testHost } from '../fixtures/host.ts';
import { runCloudctl } from './run-cloudctl.ts';

describe('completion', () => {
  it.each([
    ['bash', 'cloudctl.bash'],
    ['zsh', '_cloudctl'],
    ['fish', 'cloudctl.fish'],
    ['powershell', 'cloudctl.ps1'],
  ])('of %s is the script that is delivered', async (shell, file) => {
    const ran = await runCloudctl(testHost(), ['completion', shell]);
    expect(ran).toMatchObject({ code: 0, err: '' });
    const delivered = readFileSync(new URL(`../../completions/${file}`, import.meta.url), 'utf8');
    expect(ran.out, 'completions/ is stale: run `npm run completions`').toBe(delivered);
  });

  it.each([[['completion', 'csh']], [['completion']]])('%j is a usage error that lists the shells', async (words) => {
    const ran = await runCloudctl(testHost(), words);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toMatch(/bash|SHELL/);
  });
});
