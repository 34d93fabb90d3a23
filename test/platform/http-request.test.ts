import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import {
  addAbortObserver,
  createReceivedResponseBodyStream,
  removeAbortObserver,
} from '../../src/platform/http-request.ts';

describe('the stream of a body', () => {
  /** An inflow whose source notes what it is told. */
  function setup() {
    const told: string[] = [];
    const source = {
      pause: () => void told.push('pause'),
      resume: () => void told.push('resume'),
      abort: (reason: Error) => void told.push(`abort: ${reason.message}`),
    };
    let done = 0;
    const reading = {
      failure: (error: unknown) => new Error(`seen: ${error instanceof Error ? error.message : error}`),
      done: async () => {
        done += 1;
      },
    };
    return { told, inflow: createReceivedResponseBodyStream(source, reading), done: () => done };
  }

  async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
    let text = '';
    for await (const chunk of chunks) text += Buffer.from(chunk).toString();
    return text;
  }

  it('bytes come out in the order they came in, before and after they are asked for', async () => {
    const { inflow } = setup();
    inflow.push(Buffer.from('a'));
    inflow.push(Buffer.from('b'));
    const text = textOf(inflow.chunks);
    await new Promise(setImmediate);
    inflow.push(Buffer.from('c'));
    inflow.end();
    expect(await text).toBe('abc');
  });

  it('a failure comes after the bytes that came before it, and the first end counts', async () => {
    const { inflow, told } = setup();
    inflow.push(Buffer.from('a'));
    inflow.fail(new Error('broken off'));
    inflow.end();
    const seen: string[] = [];
    const reading = (async () => {
      for await (const chunk of inflow.chunks) seen.push(Buffer.from(chunk).toString());
    })();
    await expect(reading).rejects.toThrow('broken off');
    expect([seen, told]).toEqual([['a'], []]);
  });

  it('a source that is faster than its reader is paused until he has caught up', async () => {
    const { inflow, told } = setup();
    for (const _ of '12') inflow.push(Buffer.alloc(600 * 1024));
    expect(told).toEqual(['pause']);
    const text = textOf(inflow.chunks);
    await new Promise(setImmediate);
    expect(told).toEqual(['pause', 'resume']);
    inflow.end();
    expect(await text).toHaveLength(2 * 600 * 1024);
  });

  it('a reader who leaves off ends the source, but not one that has ended', async () => {
    for (const [isOver, expected] of [
      [false, [expect.stringMatching(/^abort: /)]],
      [true, []],
    ] as const) {
      const { inflow, told } = setup();
      inflow.push(Buffer.from('a'));
      if (isOver) inflow.end();
      for await (const _ of inflow.chunks) break;
      expect(told).toEqual(expected);
    }
  });

  it('its reader is done once, however it ends', async () => {
    const [whole, broken, left] = [setup(), setup(), setup()];
    whole.inflow.push(Buffer.from('a'));
    whole.inflow.end();
    await textOf(whole.inflow.chunks);
    broken.inflow.fail(new Error('broken off'));
    await expect(textOf(broken.inflow.chunks)).rejects.toThrow('seen: broken off');
    left.inflow.push(Buffer.from('a'));
    for await (const _ of left.inflow.chunks) break;
    expect([whole.done(), broken.done(), left.done()]).toEqual([1, 1, 1]);
  });
});

describe('what observes an abort', () => {
  it('all who watch a signal are told once, over one listener, and those who left off are not', () => {
    const control = new AbortController();
    const told: string[] = [];
    const watchers = ['a', 'b', 'c'].map((name) => ({ onAbort: () => void told.push(name) }));
    for (const watcher of watchers) addAbortObserver(control.signal, watcher);
    expect(getEventListeners(control.signal, 'abort')).toHaveLength(1);
    for (const watcher of watchers.slice(1, 2)) removeAbortObserver(control.signal, watcher);
    control.abort();
    control.abort();
    expect(told).toEqual(['a', 'c']);
  });

  it('the deadline of a single request is not held by a listener once that has ended', () => {
    const { signal } = new AbortController();
    const watcher = { onAbort: () => {} };
    addAbortObserver(signal, watcher);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    removeAbortObserver(signal, watcher);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('a signal that serves one request after the other tells each of them', () => {
    const control = new AbortController();
    const told: string[] = [];
    const watchers = ['a', 'b', 'c', 'd'].map((name) => ({ onAbort: () => void told.push(name) }));
    for (const watcher of watchers.slice(0, 3)) {
      addAbortObserver(control.signal, watcher);
      removeAbortObserver(control.signal, watcher);
    }
    for (const watcher of watchers.slice(3)) addAbortObserver(control.signal, watcher);
    expect(getEventListeners(control.signal, 'abort')).toHaveLength(1);
    control.abort();
    expect(told).toEqual(['d']);
  });
});
