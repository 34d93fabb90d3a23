import { expect, it } from 'vitest';
import { describeClients } from '../../../../src/db/cutover/redis/pair.ts';

it('a client is named by what tells its program, the last active first, one that looks last, without the own one', () => {
  const list = [
    'id=3 addr=10.0.0.7:5123 laddr=10.0.0.1:6379 fd=8 name=worker age=9 idle=75 flags=N cmd=set user=app redir=-1',
    'id=9 addr=10.0.0.8:77 name= idle=0 cmd=ping user=default',
    'id=2 addr=10.0.0.9:2 name=exporter idle=0 cmd=info',
    'id=4 addr=10.0.0.9:1 name= idle=2 cmd=incr',
  ].join('\n');
  expect(describeClients(`${list}\n`, '9')).toEqual([
    'client 4 from 10.0.0.9:1 (last command incr, idle for 2 s)',
    'client 3 worker of user app from 10.0.0.7:5123 (last command set, idle for 1 min 15 s)',
    'client 2 exporter from 10.0.0.9:2 (last command info, idle for 0 s)',
  ]);
});

it('what a client or the server sends does not control the terminal, and is cut', () => {
  const [text = ''] = describeClients(
    `id=5 addr=h\u001b[2J:1 name=\u202e${'x'.repeat(500)} idle=no cmd=\u0007set`,
    '1',
  );
  expect(text).not.toMatch(/[\u0000-\u001f\u202e]/);
  expect(text.length).toBeLessThan(300);
  expect(text).toContain('last command');
});
