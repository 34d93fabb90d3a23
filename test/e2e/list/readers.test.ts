import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { start } from '../../fixtures/cli.ts';
import { reply, serverFor } from '../../fixtures/fake-server.ts';
import { makeFolders } from '../../fixtures/folders.ts';

/** A list that never ends: each page holds 200 droplets and names the next. */
async function endlessList() {
  const name = 'x'.repeat(1_000);
  const server = await serverFor(({ url }, response) => {
    const page = Number(new URL(url, 'http://x').searchParams.get('page'));
    const droplets = Array.from({ length: 200 }, (_, at) => ({ id: page * 200 + at, name }));
    const next = `/v2/droplets?page=${page + 1}&per_page=200`;
    reply(response, 200, { droplets, links: { pages: { next } }, meta: { total: 1_000_000 } });
  });
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  const env = { CLOUDCTL_BASE_URL: server.origin, CLOUDCTL_ACCESS_TOKEN: 'x' };
  return { server, running: start(['droplets', 'list', '-o', 'ndjson'], { folders, env }) };
}

it('a reader who stops reading stops the list: no page is asked for that nobody takes', async () => {
  const { server, running } = await endlessList();
  await running.waitFor('stdout', /\n/);
  running.child.stdout?.pause();
  // What the pipe and the streams hold is taken still.
  let asked = 0;
  for (let still = 0; still < 5; ) {
    await sleep(100);
    still = server.seen.length === asked ? still + 1 : 0;
    asked = server.seen.length;
  }
  const lines = running.printed().stdout.split('\n').length;
  expect(asked * 200 - lines).toBeLessThan(200 * 8);
  running.kill('SIGTERM');
  await running.ended.catch(() => undefined);
});

it('a reader who has enough and leaves ends the list, quietly and well', async () => {
  const { server, running } = await endlessList();
  await running.waitFor('stdout', /\n/);
  running.child.stdout?.destroy();
  expect(await running.ended).toMatchObject({ code: 0, signal: null, stderr: '' });
  expect(server.seen.length).toBeLessThan(100);
});
