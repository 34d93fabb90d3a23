// Loaded before the program (`node --require`): its clock stands `offset` milliseconds aside and runs `rate` times as fast,
// and its timers of a second and more are over `timers` times as early. The product needs no hook for that: what runs is
// its own code with its own limits.
const { offset = 0, rate = 1, timers = 1 } = JSON.parse(process.env.TEST_CLOCK ?? '{}');
const RealDate = Date;
const start = RealDate.now();
const now = () => Math.round(start + offset + (RealDate.now() - start) * rate);

globalThis.Date = class extends RealDate {
  constructor(...words) {
    if (words.length === 0) super(now());
    else super(...words);
  }
  static now() {
    return now();
  }
};

if (timers !== 1) {
  const { setTimeout, AbortSignal } = globalThis;
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  globalThis.setTimeout = Object.assign(
    (work, ms = 0, ...words) => setTimeout(work, ms < 1000 ? ms : ms / timers, ...words),
    setTimeout,
  );
  AbortSignal.timeout = (ms) => timeout(Math.ceil(ms / timers));
}
