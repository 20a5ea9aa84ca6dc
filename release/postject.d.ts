declare module 'postject' {
  /** Puts data into an executable file, in place, where that program finds it. */
  export function inject(
    file: string,
    name: string,
    data: Buffer,
    options: { sentinelFuse: string; machoSegmentName?: string },
  ): Promise<void>;
}
