/** The floor of hearing a service: bare `ws`, whose messages go to a program as they come. Arguments: URL, command. */
import { spawn } from 'node:child_process';
import WebSocket from 'ws';

const [url = '', command = '', ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ['pipe', 'ignore', 'ignore'] });
const socket = new WebSocket(url, { perMessageDeflate: false });
socket.on('open', () => socket.send('token'));
socket.on('message', (data, isBinary) => {
  if (isBinary) child.stdin.write(data);
});
process.once('SIGTERM', () => {
  child.kill('SIGKILL');
  process.exit(0);
});
