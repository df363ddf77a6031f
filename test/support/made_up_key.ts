import { randomBytes } from 'node:crypto';
import type { KeyKind } from '../../src/base/caller.ts';
import { Keys } from '../../src/base/keys.ts';
import { makeToken } from '../../src/projects/token.ts';

/** The keys of an attacker, who knows the form of tokens but not the MASTER_KEY. */
export const strangersKeys = new Keys(randomBytes(32));

/** Returns a well-formed API key that this installation never made. */
export const makeUpKey = (kind: KeyKind): string => makeToken(kind, strangersKeys);
