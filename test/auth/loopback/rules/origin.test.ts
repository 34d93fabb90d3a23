import { describe } from 'vitest';
import { table } from '../decision-table.ts';
import { genuine, host, navigation, request, withHeaders } from '../loopback-fixture.ts';

describe('rule 17: only a top-level navigation ends a login', () => {
  const fetched = (mode: string, destination: string) =>
    request(genuine, withHeaders('Host', host, 'Sec-Fetch-Mode', mode, 'Sec-Fetch-Dest', destination));
  table([
    ['an img', fetched('no-cors', 'image'), 'forbidden'],
    ['a frame', fetched('navigate', 'iframe'), 'forbidden'],
    ['a fetch', fetched('cors', 'empty'), 'forbidden'],
    ['a no-cors fetch', fetched('no-cors', 'empty'), 'forbidden'],
    ['a web socket', fetched('websocket', 'empty'), 'forbidden'],
    ['two modes', request(genuine, withHeaders('Host', host, ...navigation, 'Sec-Fetch-Mode', 'cors')), 'forbidden'],
    [
      'the start page in a frame',
      request('/start/s1', withHeaders('Host', host, 'Sec-Fetch-Dest', 'iframe')),
      'forbidden',
    ],
    ['no Sec-Fetch header at all', request(genuine, withHeaders('Host', host)), 'taken code'],
  ]);
});

describe('rule 18: an Origin on the callback is the authorization server or null', () => {
  const from = (...origins: readonly string[]) =>
    request(genuine, withHeaders('Host', host, ...origins.flatMap((origin) => ['Origin', origin])));
  table([
    ['the authorization server', from('https://cloud.example.com'), 'taken code'],
    ['null', from('null'), 'taken code'],
    ['another site', from('https://evil.example'), 'forbidden'],
    ['the helper itself', from(`http://${host}`), 'forbidden'],
    ['one good and one bad', from('null', 'https://evil.example'), 'forbidden'],
  ]);
});
