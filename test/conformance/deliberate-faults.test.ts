import { describe, expect, it } from 'vitest';
import { sandboxFor } from '../sandbox/requests.ts';
import { changingSend } from './changed-traffic.ts';
import { type DeliberateFault, stateFaults, trafficFaults } from './deliberate-faults.ts';
import { playStatements, testedSandbox } from './tested-server.ts';

const faults: readonly DeliberateFault[] = [...stateFaults, ...trafficFaults];

describe('a fault in a copy of the sandbox is found', () => {
  it.each(faults)('$name', async ({ breaks, spoil, traffic }) => {
    const sandbox = await sandboxFor();
    spoil?.(sandbox);
    const send = traffic === undefined ? {} : { send: changingSend(traffic(sandbox)) };
    const { results } = await playStatements(await testedSandbox(sandbox, send), breaks);
    expect(results.filter(({ status }) => status === 'differs').map(({ id }) => id)).toEqual(
      results.map(({ id }) => id),
    );
    expect(results.map(({ id }) => id).toSorted()).toEqual(breaks.toSorted());
    for (const { expected, received } of results) expect([expected, received]).not.toContain('');
  });
});

it('the statements that find faults hold without the faults', async () => {
  const sandbox = await sandboxFor();
  const unchanged = await testedSandbox(sandbox, { send: changingSend({}) });
  const { results, counts } = await playStatements(
    unchanged,
    faults.flatMap(({ breaks }) => breaks),
  );
  expect(results.filter(({ status }) => status === 'differs' || status === 'not_testable')).toEqual([]);
  expect(counts.holds).toBeGreaterThan(60);
});
