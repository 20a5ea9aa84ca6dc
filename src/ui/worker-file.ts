/** The thread that draws, as it is built: beside the program in dist/. */
export const drawWorker = new URL('./draw-worker.js', import.meta.url);
