/** Milliseconds on a clock that all processes share. */
export const now = () => Number(process.hrtime.bigint()) / 1e6;
