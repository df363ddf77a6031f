import type { Used } from '../../src/providers/providers.ts';

/** A provider as it was created: used, and saved no more since. */
export const used = (providerId: string, revision = 1): Used => ({ providerId, revision });
