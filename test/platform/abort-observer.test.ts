import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { addAbortObserver, removeAbortObserver } from '../../src/platform/http-request.ts';

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
