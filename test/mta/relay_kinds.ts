import { areScenariosAsked } from '../support/mta_scenarios.ts';
import { hasExim } from './exim.ts';
import { EximRelay } from './exim_relay.ts';
import { Postfix } from './postfix.ts';
import { findPostfix } from './postfix_package.ts';
import type { Limits, Relay } from './relay.ts';

/** A relay that the scenarios run against. */
export type RelayKind = {
  name: 'Exim' | 'Postfix';
  /** Why its scenarios cannot run here; null: they can. */
  findMissing: () => string | null;
  start: (limits: Limits) => Promise<Relay>;
};

const missing = (name: string, isHere: () => boolean): string | null => {
  if (!areScenariosAsked()) return '`make test-mta` runs the scenarios';
  return isHere()
    ? null
    : `there is no ${name} on this machine; \`make test-mta\` installs it, as root`;
};

export const EXIM: RelayKind = {
  name: 'Exim',
  findMissing: () => missing('Exim', hasExim),
  start: (limits) => EximRelay.start(limits),
};

export const POSTFIX: RelayKind = {
  name: 'Postfix',
  findMissing: () => missing('Postfix', () => findPostfix() !== null),
  start: (limits) => Postfix.start(limits),
};

export const RELAY_KINDS: readonly RelayKind[] = [EXIM, POSTFIX];
