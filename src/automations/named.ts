import { z } from 'zod';
import type { Scope } from '../base/db.ts';
import { Refusal } from '../base/refusal.ts';
import { findAutomation } from './queries.ts';
import type { Kept } from './queries.ts';

/** What names an automation to a procedure. */
export const OfAutomation = z.object({ automationId: z.uuid() });

export const getNamed = async (scope: Scope, automationId: string): Promise<Kept> => {
  const kept = await findAutomation(scope, automationId);
  if (!kept) throw new Refusal('not_found', { detail: 'There is no such automation.' });
  return kept;
};
