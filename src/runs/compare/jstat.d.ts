/** The parts of jStat that are used. It comes without types. */
declare module 'jstat' {
  interface Statistics {
    studentt: { inv(probability: number, degreesOfFreedom: number): number };
    normal: { inv(probability: number, mean: number, deviation: number): number };
    mean(values: readonly number[]): number;
  }
  const statistics: Statistics;
  export = statistics;
}
