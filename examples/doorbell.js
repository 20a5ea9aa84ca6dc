/** An imaginary app to test: a doorbell whose visitors talk to the AI. It calls again when the service restarts. Needs `npm install ws`. */
import { WebSocket } from 'ws';

const serviceRestart = 1012;

/** @param {{ baseUrl: string, wsUrl: string, apiKey: string }} service */
export function createDoorbell({ baseUrl, wsUrl, apiKey }) {
  /** @type {WebSocket | undefined} */
  let socket;

  /** Resolves when the service has confirmed the connection. */
  async function ring() {
    const answer = await fetch(`${baseUrl}/api/websocket-voice/token`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ apiKey, deviceId: 'front-door' }),
    });
    const { token } = /** @type {{ token: string }} */ (await answer.json());
    const line = new WebSocket(`${wsUrl}/voice-stream`);
    socket = line;
    line.on('close', callAgain);
    line.on('open', () => line.send(token));
    await new Promise((resolve, reject) => line.once('message', resolve).once('error', reject));
  }

  /** @param {number} code */
  function callAgain(code) {
    if (code === serviceRestart) ring();
  }

  return { ring, hangUp: () => socket?.off('close', callAgain).close() };
}
