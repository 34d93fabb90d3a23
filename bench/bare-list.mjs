// The bare loop of list.mjs: reads every page of the droplets and throws it away.
import { Pool } from 'undici';

const { ORIGIN: origin, PAGES: pages, CLOUDCTL_ACCESS_TOKEN: token } = process.env;
const pool = new Pool(origin, { connections: 1 });
const headers = { authorization: `Bearer ${token}` };
for (let page = 1; page <= Number(pages); page++) {
  const path = `/v2/droplets?page=${page}&per_page=200`;
  const { statusCode, body } = await pool.request({ method: 'GET', path, headers });
  if (statusCode !== 200) throw new Error(`page ${page} was answered ${statusCode}`);
  for await (const _chunk of body);
}
await pool.close();
