import type { SmtpSettings } from '../../src/providers/settings.ts';

/** What a relay of the scenarios checks; a test changes it while the relay runs. */
export type Rules = {
  password: string;
  /** The addresses that the account may send from. */
  senders: readonly string[];
  /** How many messages of the account a day it takes; null: any number. */
  dailyMax: number | null;
  /** Whether it defers or denies what is past the daily limit. */
  pastDailyMax: 'defer' | 'deny';
  /** For how long it defers a sender and recipient that it sees for the first time; null: it does not. */
  greySeconds: number | null;
};

/** What it limits from its start on; what is left out is not limited. */
export type Limits = {
  messagesPerConnection?: number;
  connectionsMax?: number;
  /** A minute. */
  connectionRateMax?: number;
  /** A minute. */
  messageRateMax?: number;
  errorsMax?: number;
};

export const USERNAME = 'shop';
export const HOST = 'localhost';
/** Every relay says that an address does not exist that begins so. */
export const NOT_THERE = 'unknown-';

export const FIRST_RULES: Rules = {
  password: 'relay password',
  senders: ['hello@shop.test'],
  dailyMax: null,
  pastDailyMax: 'defer',
  greySeconds: null,
};

/** A mail server that we did not write, as an ordinary process of this machine. */
export type Relay = {
  /** The authority of its certificate, for NODE_EXTRA_CA_CERTS of another process. */
  readonly caFile: string;
  /** How to reach it with STARTTLS and the first password. */
  readonly settings: SmtpSettings;
  /** The Message-ID of each message that it took, from its own log. */
  taken: () => Promise<string[]>;
  change: (rules: Partial<Rules>) => Promise<void>;
  /** Ends all its processes, as a service manager does. */
  end: () => Promise<void>;
  /** Starts it again on the same port with what it kept. */
  begin: () => Promise<void>;
  /** Ends it and removes its files. */
  remove: () => Promise<void>;
};
