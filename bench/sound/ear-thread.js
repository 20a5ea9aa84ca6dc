/** Notes when each chunk of a recorder came, whatever else its parent does. */
import { spawn } from 'node:child_process';
import { parentPort, workerData } from 'node:worker_threads';
import { ahead } from '../../test/helpers/ahead.js';
import { now } from './time.js';

const { device, env } = workerData;
const format = ['--raw', '--format=s16le', '--rate=16000', '--channels=1'];
const recorder = ['parec', `--device=${device}`, ...format, '--latency-msec=10'];
const [command = '', ...args] = [...ahead, ...recorder];
const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
child.stdout.on('data', (data) => parentPort?.postMessage({ data, at: now() }));
parentPort?.once('message', () => {
  child.kill('SIGKILL');
  process.exit(0);
});
