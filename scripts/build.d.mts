/** The program into `dist-test/`, with the hook that interrupts it at a point (src/session/points.ts). */
export function buildForTests(): Promise<object>;
