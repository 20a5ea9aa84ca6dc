import { beforeAll, describe, expect, test } from 'vitest';
import { situations } from '../../src/conformance/drill/catalogue.ts';
import { drill } from '../../src/conformance/drill/drill.ts';
import type { StartDevice } from '../../src/conformance/drill/situation.ts';
import { waitUntil } from '../../src/kernel/clock.ts';
import { createProxy, type ServiceProxy } from '../../src/proxy/proxy.ts';
import type { Judgement } from '../../src/service/events.ts';
import { deviceMutants } from '../conformance/drill/device-mutants.ts';
import { hasten } from '../helpers/hasten.ts';
import { createManualClock } from '../helpers/manual-clock.ts';
import { lawfulDevice, type MiniDevice, miniDevice } from '../helpers/mini-device.ts';

const clock = createManualClock();
const lingerMs = 1_000;

/** The device, with a proxy between it and the emulator of each situation. */
function throughProxies(start: StartDevice, told: Judgement[]): StartDevice {
  return async ({ baseUrl, wsUrl }) => {
    let isOver = false;
    const proxy: ServiceProxy = await createProxy({
      target: { baseUrl, wsUrl },
      clock,
      onEvent(event) {
        if (event.type === 'violation' && !isOver) told.push(event);
      },
    });
    const device = await start({ baseUrl: proxy.baseUrl, wsUrl: proxy.wsUrl, certificate: undefined });
    return {
      ...device,
      async kill() {
        // The drill ends a device as soon as it has seen enough; the proxy sees each answer too.
        await waitUntil(clock, clock.now() + lingerMs);
        isOver = true;
        await device.kill();
        await proxy.close();
      },
    };
  };
}

/** One of the situations of each rule, or two where a mutant shows in one only. */
const chosen = [
  ...['D1', 'D2', 'D3', 'D4', 'D5', 'D6-told', 'D6-backoff', 'D7-401', 'D7-500', 'D8-refused', 'D9-again'],
  ...['D10-half-open', 'D11-kind', 'D13-stop'],
];
const ruleOf = (id: string) => id.split('-')[0] ?? '';
const results = new Map<unknown, { told: Judgement[]; wrong: string[] }>();

async function drillDevice(change: Partial<MiniDevice>, rule?: string): Promise<void> {
  const told: Judgement[] = [];
  const { drilled } = await drill({
    situations: situations.filter(
      ({ id }) => chosen.includes(id) && (rule === undefined || ruleOf(id) === rule),
    ),
    access: {},
    clock,
    signal: new AbortController().signal,
    deviceTimeoutMs: 10_000,
    parallel: 50,
    start: throughProxies(miniDevice(change, clock), told),
    device: undefined,
  });
  const wrong = drilled.filter(({ finding }) => finding.verdict === 'fail' || finding.verdict === 'unknown');
  results.set(change, { told, wrong: wrong.map(({ id, finding }) => `${id}: ${finding.message}`) });
}

/** What a proxy sees of a device, without making situations. */
const visible = ['D1', 'D2', 'D3', 'D4', 'D5', 'D6', 'D7', 'D8', 'D9', 'D13'];
/** What is told by one request or one message, whatever the service does then: sides.test.ts has more of it. */
const toldAtOnce = ['D1', 'D2'];
const mutants = deviceMutants.filter(
  ({ rule, tls, does }, index) =>
    tls === undefined &&
    !(toldAtOnce.includes(rule) && deviceMutants.findIndex((other) => other.rule === rule) !== index) &&
    (visible.includes(rule) || /never pings|unknown kind/.test(does)),
);
/** Nothing passes that would show it: a device that stays away, and one that has two connections. */
const unseen = ['does not come back after 1001', 'leaves an orphan'];
/** What is broken with it: a token that is used again, and a first message that is no token. */
const also: Record<string, string[]> = {
  'presents a refused token again': ['D3'],
  'connects without a token': ['D2', 'D8'],
};

beforeAll(async () => {
  const all = [drillDevice(lawfulDevice), ...mutants.map(({ change, rule }) => drillDevice(change, rule))];
  await hasten(clock, Promise.all(all));
}, 120_000);

const blamed = (change: unknown) => [
  ...new Set(
    (results.get(change)?.told ?? []).filter(({ from }) => from === 'device').map(({ rule }) => rule),
  ),
];

test('a correct device passes each situation through a proxy, and nothing is held against it', () => {
  expect(results.get(lawfulDevice)?.wrong).toEqual([]);
  expect(
    results
      .get(lawfulDevice)
      ?.told.filter(({ from }) => from === 'device')
      .map(({ rule, value }) => `${rule}: ${value}`),
  ).toEqual([]);
});

describe('a device that breaks one rule', () => {
  test.each(mutants)('$rule: it $does', ({ rule, does, change }) => {
    const allowed = [rule, ...(also[does] ?? [])];
    const others = (results.get(change)?.told ?? []).filter(
      (one) => one.from === 'device' && !allowed.includes(one.rule),
    );
    expect(others.map((one) => `${one.rule}: ${one.value}`)).toEqual([]);
    const isSeen = visible.includes(rule) && !unseen.includes(does);
    if (isSeen) expect(blamed(change)).toContain(rule);
  });
});
