import { test } from 'vitest';
import pg from 'pg';
import { preflight } from '../preflight/postgresql/preflight.ts';
import { connect } from '../../src/postgresql/connection.ts';
import { Secret } from '../../src/secret.ts';
test('bench', async () => {
  const port = Number(process.env.PORT ?? 5417);
  const sent = new Map<string, string[]>();
  const r0 = await preflight({ port, password: 'pw' }, { onQuery: (d, t) => sent.set(d, [...(sent.get(d) ?? []), t]) });
  const names = r0.databases.map((d) => d.name);
  console.log(names.length, r0.duration_ms, r0.queries);
  const msg = [...(sent.get('w5') ?? [])].find((t) => t.startsWith('BEGIN'))!;
  console.log(msg.length, sent.get('w5')!.length);
  const source = { host: '127.0.0.1', port, dbname: 'postgres', username: 'postgres', password: new Secret('pw'), ssl: 'disable' as const };
  const loop = async (text: string) => { const t = Date.now(); const q = [...names]; await Promise.all(Array.from({ length: 8 }, async () => { for (let n = q.shift(); n; n = q.shift()) { const s = await connect(source, { dbname: n, limit: 20000 }); await s.query(text); await s.end(); } })); return Date.now() - t; };
  const bare = async (text: string) => { const t = Date.now(); const q = [...names]; await Promise.all(Array.from({ length: 8 }, async () => { for (let n = q.shift(); n; n = q.shift()) { const s = new pg.Client({ host: '127.0.0.1', port, database: n, user: 'postgres', password: 'pw' }); await s.connect(); await s.query(text); await s.end(); } })); return Date.now() - t; };
  for (let i = 0; i < 3; i++) {
    console.log('select1', await bare('SELECT 1'), 'bare msg', await bare(msg), 'own connect msg', await loop(msg));
    const t = Date.now(); const r = await preflight({ port, password: 'pw' }); console.log('preflight', Date.now() - t, r.duration_ms, Math.round(process.memoryUsage().rss / 1e6));
  }
}, 200000);
