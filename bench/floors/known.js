/** The service whose delays are known, in real time: tells its parent what they were. `known.js SETTINGS_AS_JSON`. */
import { createKnownService } from '../load/known-service.js';
import { announce } from './announce.js';

const clock = {
  now: () => performance.now(),
  after: (/** @type {number} */ ms, /** @type {() => void} */ call) => setTimeout(call, ms),
};
const { server, log } = createKnownService(JSON.parse(process.argv[2] ?? '{}'), clock);
process.on('message', (/** @type {{ ask?: string }} */ { ask }) => {
  if (ask === 'log') process.send?.({ log });
  if (ask === 'forget') for (const times of Object.values(log)) times.length = 0;
});
server.listen(0, '127.0.0.1', () => announce(server));
