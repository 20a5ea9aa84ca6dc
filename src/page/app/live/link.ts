import { signal } from '@preact/signals';

export type Link = 'connecting' | 'live' | 'lost' | 'asleep' | 'no-token' | 'refused' | 'stopped';

/** Whether the page hears from its server. Whoever takes the messages says `live` and `stopped`. */
export const link = signal<Link>('connecting');
