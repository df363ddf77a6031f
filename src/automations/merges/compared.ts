import type { ReEntry } from '../schema.ts';
import type { Candidate } from './decide.ts';
import type { OtherRun } from './rule.ts';
import type { ComparedRow } from './run_queries.ts';

/** A person whose runs are compared: the profile, and its identities. */
export type ComparedPerson = { profileId: string; identityIds: readonly string[] };

/** A run that is compared with the other runs of its person, and its re-entry rule. */
export type ComparedRun = ComparedRow & Candidate & { reEntry: ReEntry };

/** The other runs of the person in the automation of a run. */
export type OthersOf = (run: ComparedRun) => readonly OtherRun[];
