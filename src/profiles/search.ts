import { z } from 'zod';
import type { Scope } from '../base/db.ts';
import { listProfiles } from './profiles.ts';
import type { Selector } from './profiles.ts';
import type { Profile } from './schema.ts';

/** Every way in which a text may name somebody. Each is one look-up by key. */
const readingsOf = (text: string): Selector[] => [
  ...(z.uuid().safeParse(text).success ? [{ by: 'id' as const, value: text }] : []),
  { by: 'external', value: text },
  { by: 'anonymous', value: text },
  ...(text.includes('@') ? [{ by: 'email' as const, value: text }] : []),
];

/** The profiles that a text names, once each: by profile id, external id, anonymous id or address. */
export const searchProfiles = async (scope: Scope, text: string): Promise<Profile[]> => {
  const found = new Map<string, Profile>();
  for (const selector of readingsOf(text)) {
    for (const profile of await listProfiles(scope, selector)) found.set(profile.id, profile);
  }
  return [...found.values()];
};
