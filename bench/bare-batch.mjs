// The bare loop of batch.mjs: sends the same POSTs over as many connections, and throws the answers away.
import { readFileSync } from 'node:fs';
import { Pool } from 'undici';

const [file, attributes, batchSize, connections] = process.argv.slice(2);
const { ORIGIN: origin, CLOUDCTL_ACCESS_TOKEN: token } = process.env;
const names = readFileSync(file, 'utf8').trim().split('\n');
const pool = new Pool(origin, { connections: Number(connections) });
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
const lane = async () => {
  for (let group = names.splice(0, Number(batchSize)); group.length > 0; group = names.splice(0, Number(batchSize))) {
    const body = JSON.stringify({ names: group, ...JSON.parse(attributes) });
    const answer = await pool.request({ method: 'POST', path: '/v2/droplets', headers, body });
    await answer.body.text();
    if (answer.statusCode !== 202) throw new Error(`a POST was answered ${answer.statusCode}`);
  }
};
await Promise.all(Array.from({ length: Number(connections) }, lane));
await pool.close();
