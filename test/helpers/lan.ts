import { networkInterfaces } from 'node:os';

/** An address of this machine that other machines use; undefined without one. */
export const lan: string | undefined = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === 'IPv4' && !one.internal)?.address;
