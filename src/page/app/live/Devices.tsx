import { isProxy, state } from './store.ts';

/** Each device with its rate window and its connections, and the tokens that were issued for it. */
export function Devices() {
  const { devices = [], tokens = [], streams = [], clock } = state.value ?? {};
  const isOfOthers = isProxy();
  const now = clock === undefined ? 0 : Date.parse(clock.now);
  return (
    <section class="panel" aria-labelledby="devices-title">
      <h2 id="devices-title">
        Devices <span class="count">{devices.length}</span>
      </h2>
      {devices.length === 0 && <p class="faint">No device has asked for a token.</p>}
      <ul class="devices">
        {devices
          .slice(0, maxShown)
          .map(({ device, requests, limit, resetAt, connections, maxConnections }) => {
            const token = tokens.findLast((one) => one.device === device);
            return (
              <li key={device}>
                <b>{device}</b>
                <Bar name="requests" value={requests} most={limit} />
                <Bar
                  name="connections"
                  // A proxy does not grant them: it sees those that pass.
                  value={isOfOthers ? streams.filter((one) => one.device === device).length : connections}
                  most={maxConnections}
                />
                {/* Two lines, whatever they say: what stands below must not move under a pointer. */}
                <small class="faint one-line">
                  {resetAt === null ? 'no open window' : `window resets in ${secondsUntil(resetAt, now)}`}
                </small>
                <small class="faint one-line">
                  {token === undefined
                    ? 'no valid token'
                    : `token ${isOfOthers ? '' : token.used ? 'used, ' : 'not used, '}expires in ${secondsUntil(token.expiresAt, now)}`}
                </small>
              </li>
            );
          })}
      </ul>
      {devices.length > maxShown && <p class="faint">and {devices.length - maxShown} more</p>}
    </section>
  );
}

const maxShown = 20;

function Bar({ name, value, most }: { name: string; value: number; most: number }) {
  return (
    <label class="bar">
      <span>
        {value}/{most} {name}
      </span>
      <meter min={0} max={most} low={most * 0.75} high={most * 0.95} optimum={0} value={value} />
    </label>
  );
}

function secondsUntil(iso: string, now: number): string {
  return `${Math.max(0, Math.round((Date.parse(iso) - now) / 1000))} s`;
}
