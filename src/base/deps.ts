import type { Config } from '../config.ts';
import type { Audit } from './audit.ts';
import type { Db } from './db.ts';
import type { Keys } from './keys.ts';
import type { Logger } from './log.ts';
import type { Resources } from './resources.ts';
import type { Turns } from './session_turns.ts';

/** The parts that every door hands to the rooms. Made once in src/main.ts; tests make their own. */
export type Deps = {
  readonly config: Config;
  readonly db: Db;
  readonly keys: Keys;
  readonly log: Logger;
  readonly resources: Resources;
  /** The call that what is changed is put down to, where a door has said so. */
  readonly audit?: Audit;
  /** Of what is asked from outside: whose turn it is to have a session. Jobs are few at a time, and have none. */
  readonly turns?: Turns;
};
