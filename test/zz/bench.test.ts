import { test } from 'vitest';
import pg from 'pg';
import { preflight } from '../preflight/postgresql/preflight.ts';
test('bench', async () => {
  const port = Number(process.env.PORT ?? 5417);
  const sent = new Map<string, string[]>();
  const r0 = await preflight({ port, password: 'pw' }, { onQuery: (d, t) => sent.set(d, [...(sent.get(d) ?? []), t]) });
  const names = r0.databases.map((d) => d.name);
  const msg = [...(sent.get('w5') ?? [])].find((t) => t.startsWith('BEGIN'))!;
  const cpu = async (f: () => Promise<unknown>) => { const t = Date.now(); const c = process.cpuUsage(); await f(); const d = process.cpuUsage(c); return `${Date.now() - t} ms (cpu ${Math.round((d.user + d.system) / 1000)})`; };
  const bare = async (text: string) => { const q = [...names]; await Promise.all(Array.from({ length: 8 }, async () => { for (let n = q.shift(); n; n = q.shift()) { const s = new pg.Client({ host: '127.0.0.1', port, database: n, user: 'postgres', password: 'pw' }); await s.connect(); await s.query(text); await s.end(); } })); };
  for (let i = 0; i < 4; i++) console.log('select1', await cpu(() => bare('SELECT 1')), 'msg', await cpu(() => bare(msg)), 'preflight', await cpu(() => preflight({ port, password: 'pw' })));
}, 200000);
