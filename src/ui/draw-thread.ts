import { Worker } from 'node:worker_threads';

/** Where the build puts it: beside the program in dist/. */
const built = new URL('./draw-worker.js', import.meta.url);

/** The thread that draws the frames of a screen. */
export interface DrawThread {
  worker: Worker;
  /** Resolves with the reason when the thread has ended. */
  ended: Promise<Error>;
}

/** Starts the thread. Loading its code takes as long as loading a command: start it first, so that both load at once. */
export function startDrawThread({ colour, file = built }: { colour: boolean; file?: URL }): DrawThread {
  const worker = new Worker(file, {
    // The thread gets no environment, because that may contain keys. Ink takes the colours from FORCE_COLOR.
    env: { FORCE_COLOR: colour ? '1' : '0' },
    stdout: true,
    stderr: true,
  });
  // The thread must not keep the process alive.
  worker.unref();
  const ended = new Promise<Error>((resolve) => {
    worker.on('error', resolve);
    worker.on('exit', (code) => resolve(new Error(`it ended with ${code}`)));
  });
  return { worker, ended };
}
