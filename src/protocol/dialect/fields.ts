import * as z from 'zod';

/** Fields that the specification leaves open: any JSON. */
export const jsonFields = z.record(z.string(), z.json());
