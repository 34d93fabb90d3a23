/** The page of the benchmarks, its pictures and the README with their numbers, by path. */
export function benchmarkPages(result?: object): Readonly<Record<string, string>>;
