import prometheus from 'prom-client';
import type { MetricFamily } from './family.ts';

/** A text with its media type. */
export interface WrittenMetrics {
  contentType: string;
  text: string;
}

/** Writes metrics in the text format 0.0.4, or as OpenMetrics 1.0.0 where `accept` prefers that. */
export async function writeMetrics(
  families: readonly MetricFamily[],
  accept: string,
): Promise<WrittenMetrics> {
  const { prometheusContentType, openMetricsContentType } = prometheus;
  const isOpen = prefersOpenMetrics(accept);
  const contentType = isOpen ? openMetricsContentType : prometheusContentType;
  const registry = new prometheus.Registry<typeof contentType>();
  registry.setContentType(contentType);
  for (const { name, help, type, samples } of families) {
    // In OpenMetrics a counter has its suffix on its samples alone, and the writer adds it.
    const full = type === 'counter' && !isOpen ? `${name}_total` : name;
    const values = samples.map(({ labels, value, suffix }) => ({
      ...{ labels, value },
      ...(suffix === undefined ? {} : { metricName: `${name}${suffix}` }),
    }));
    const written = { name: full, help, type, values, aggregator: 'sum' };
    // The library writes whatever has a name and values; ours are counted already.
    registry.registerMetric({ ...written, get: async () => written } as unknown as prometheus.Metric);
  }
  return { contentType, text: await registry.metrics() };
}

/** Whether OpenMetrics has a higher weight in an Accept header than the older format. */
function prefersOpenMetrics(accept: string): boolean {
  const offers = accept.split(',').map((offer) => {
    const [type = '', ...parameters] = offer.split(';').map((part) => part.trim().toLowerCase());
    const parameter = (name: string) =>
      parameters.find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1);
    return { type, version: parameter('version') ?? '1.0.0', weight: Number(parameter('q') ?? 1) };
  });
  const weight = (isMeant: (offer: (typeof offers)[number]) => boolean) =>
    Math.max(0, ...offers.filter(isMeant).map((offer) => offer.weight));
  const open = weight(({ type, version }) => type === 'application/openmetrics-text' && version === '1.0.0');
  return open > 0 && open >= weight(({ type }) => type === 'text/plain' || type === 'text/*');
}
