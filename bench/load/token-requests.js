import { connect } from 'node:net';

/**
 * Asks for tokens on some connections, each as soon as it has its answer, every one for another device.
 *
 * @param {{ port: number, connections: number, warmMs: number, ms: number }} order
 * @param {() => void} begin
 */
export async function requestTokens({ port, connections, warmMs, ms }, begin) {
  let answered = 0;
  let refused = 0;
  let device = 0;
  const sockets = Array.from({ length: connections }, () =>
    connectAsker(port, {
      nextDevice: () => device++,
      onAnswer(isGranted) {
        answered += 1;
        if (!isGranted) refused += 1;
      },
    }),
  );
  await new Promise((resolve) => setTimeout(resolve, warmMs));
  begin();
  const [before, at] = [answered, performance.now()];
  await new Promise((resolve) => setTimeout(resolve, ms));
  const perSecond = ((answered - before) / (performance.now() - at)) * 1000;
  for (const socket of sockets) socket.destroy();
  if (refused > 0) throw new Error(`${refused} of ${answered} requests were refused`);
  return { perSecond };
}

/**
 * @param {number} port
 * @param {{ nextDevice: () => number, onAnswer: (isGranted: boolean) => void }} handlers
 */
function connectAsker(port, { nextDevice, onAnswer }) {
  const request = Buffer.from(requestText(port, 0));
  const digitsAt = request.indexOf('0000000000');
  const ask = () => {
    request.write(String(nextDevice()).padStart(10, '0'), digitsAt, 'latin1');
    socket.write(Buffer.from(request));
  };
  let text = '';
  const socket = connect({
    port,
    host: '127.0.0.1',
    noDelay: true,
    onread: {
      buffer: Buffer.allocUnsafeSlow(16 * 1024),
      callback(bytes, buffer) {
        text += Buffer.from(buffer.buffer, buffer.byteOffset, bytes).toString('latin1');
        const end = text.indexOf('\r\n\r\n');
        if (end < 0) return true;
        const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
        if (text.length < end + 4 + length) return true;
        onAnswer(text.startsWith('HTTP/1.1 200'));
        text = '';
        ask();
        return true;
      },
    },
  });
  socket.on('connect', ask);
  return socket;
}

/** @param {number} port @param {number} device */
function requestText(port, device) {
  const body = JSON.stringify({ apiKey: 'bench', deviceId: `d${String(device).padStart(10, '0')}` });
  return [
    'POST /api/websocket-voice/token HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n');
}
