/**
 * Tells whoever started a floor which port it listens on.
 *
 * @param {import('node:net').Server} server
 */
export function announce(server) {
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  process.send?.({ port: address.port });
}
