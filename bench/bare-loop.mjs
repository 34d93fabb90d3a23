// The least that creates droplets: groups of names over one keep-alive pool, and nothing else. `npm run bench:batch` runs it in
// its own process, where it is as quick as it gets, and as a program that begins cold, as every client does.

import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';

/** Resolves with the seconds it took. */
export async function bareLoop({ origin, token }, { names, attributes, batchSize, connections }) {
  const pool = new Pool(origin, { connections });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const begun = performance.now();
  const lane = async () => {
    for (let group = names.splice(0, batchSize); group.length > 0; group = names.splice(0, batchSize)) {
      const body = JSON.stringify({ names: group, ...attributes });
      const answer = await pool.request({ method: 'POST', path: '/v2/droplets', headers, body });
      await answer.body.text();
      if (answer.statusCode !== 202) throw new Error(`a POST was answered ${answer.statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: connections }, lane));
  const seconds = (performance.now() - begun) / 1000;
  await pool.close();
  return seconds;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { count, ...work } = JSON.parse(process.argv[2]);
  const names = Array.from({ length: count }, (_, at) => `node-${at + 1}`);
  console.log(await bareLoop({ origin: process.env.ORIGIN, token: process.env.TOKEN }, { ...work, names }));
}
