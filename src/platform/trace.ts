import { type Send, SendError } from './send.ts';

/** Tells one line a request: what was asked and how it ended, with the names of its parameters and none of their values. */
export function traced(send: Send, trace: (line: string) => void, now: () => number): Send {
  return async (url, init) => {
    const start = now();
    const tell = (end: string) => trace(`${init.method} ${withoutValues(url)} ${end} ${Math.round(now() - start)} ms`);
    try {
      const answer = await send(url, init);
      tell(String(answer.status));
      return answer;
    } catch (error) {
      tell(error instanceof SendError ? error.kind : 'failed');
      throw error;
    }
  };
}

/** `https://host/path?name&name`. */
export function withoutValues(url: string): string {
  if (!URL.canParse(url)) return '(no URL)';
  const { origin, pathname, searchParams } = new URL(url);
  const names = [...searchParams.keys()].map(encodeURIComponent).join('&');
  return `${origin}${pathname}${names === '' ? '' : `?${names}`}`;
}
