import { signal } from '@preact/signals';

export type Link = 'connecting' | 'live' | 'lost' | 'asleep' | 'no-token' | 'refused' | 'stopped';

/** Whether the page hears from its server. The code that applies the messages sets `live` and `stopped`. */
export const link = signal<Link>('connecting');
