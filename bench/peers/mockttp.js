/** The token endpoint as a mock of mockttp: `mockttp.js FOLDER`, where it is installed. */
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(join(process.argv[2] ?? '.', 'package.json'));
const server = require('mockttp').getLocal();
await server.start();
await server
  .forPost('/api/websocket-voice/token')
  .always()
  .thenJson(200, { token: 'eyJhbGciOiJIUzI1NiJ9.e30.constant' });
process.send?.({ port: server.port });
