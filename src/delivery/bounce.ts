import type { Scope } from '../base/db.ts';
import type { SaidBounce, Settings } from '../providers/providers.ts';

/** A bounce that a provider said while it was given the message. */
export type Bounce = SaidBounce & {
  sendId: string;
  attempt: number;
  email: string;
  provider: Settings['provider'];
};

/**
 * Does what a bounce calls for, and writes with `writeOutcome` what became of the attempt: both or neither. It
 * is called once the people and the address are held, as whoever locks sends has to hold them first.
 */
export type TakeBounce = (
  scope: Scope,
  bounce: Bounce,
  writeOutcome: (scope: Scope) => Promise<void>,
) => Promise<void>;
