/** The program of a generator in a process of its own, as it is built: beside the program in dist/. */
export const loadWorker = new URL('./load-worker.js', import.meta.url);
