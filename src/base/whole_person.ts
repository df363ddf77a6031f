import type { z } from 'zod';
import type { Scope } from './db.ts';

/** A person by the ids that the rooms know them by. */
export type Person = {
  readonly identities: readonly KnownIdentity[];
  /** The profiles that the identities have, or would have alone. */
  readonly profileIds: readonly string[];
};

/** A person by everything that the rooms know them by: what is exported. */
export type WholePerson = Person & {
  /** The keyed hashes of their addresses. */
  readonly addressKeys: readonly Buffer[];
};
export type KnownIdentity = {
  readonly identity_id: string;
  readonly kind: 'external' | 'anonymous';
  readonly value: string;
};

/** How many rows were removed or overwritten, by table. */
export type RowCounts = Readonly<Record<string, number>>;

/**
 * Does one step of an erase in a transaction of its own and adds up what it did. A step may be done
 * twice, so it takes a bounded number of rows and does nothing to those that are done.
 */
export type InStep = <T>(
  step: (scope: Scope) => Promise<{ rows: RowCounts; value: T }>,
) => Promise<T>;

/** Keeps in mind, in the transaction of a step, that addresses are the person's before they are gone. */
export type NoteAddresses = (scope: Scope, emails: readonly string[]) => Promise<void>;

/** What a room does about a person who is erased. */
export type Eraser = {
  /** Notes every address that the room knows of the person. */
  noteAddresses?: (person: Person, inStep: InStep, note: NoteAddresses) => Promise<void>;
  /** Removes or overwrites whatever the room holds of the person, step by step. */
  erase?: (person: Person, inStep: InStep) => Promise<void>;
  /**
   * The same of whatever was sent to addresses, or told of them: a bounded number of rows. The addresses are
   * locked, and no living person has any of them. Answers whether that was all.
   */
  eraseAddresses?: (
    scope: Scope,
    addressKeys: readonly Buffer[],
  ) => Promise<{ rows: RowCounts; isAll: boolean }>;
};

/** Reads in a transaction of its own, so that nothing is held while a client takes its time. */
export type Read = <T>(work: (scope: Scope) => Promise<T>) => Promise<T>;

/** One list of the export of a person. */
export type ExportSection = {
  name: string;
  /** What an item of the list looks like. */
  item: z.ZodType;
  about: string;
  /** The items, page by page. */
  pages: (person: WholePerson, read: Read) => AsyncIterable<readonly unknown[]>;
};
